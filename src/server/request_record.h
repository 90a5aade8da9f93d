#ifndef ADIT_SERVER_REQUEST_RECORD_H_
#define ADIT_SERVER_REQUEST_RECORD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "guard/rules.h"
#include "server/trace_context.h"

namespace adit::server {

// How an interface's clients want to be told of errors.
enum class ErrorShape : uint8_t {
  kOpenAi,
  kAnthropic,
  kOllama,
};

// What is known of a request: for its log line, the metrics and whoever administers. Written by the connection's
// thread; what others read while it runs is atomic or does not change.
struct RequestRecord {
  // Does not change once the request is being answered.
  std::string id;
  std::string key_id = "none";
  std::string tenant = "default";
  std::string method;
  std::string path;
  std::string route;  // the path's pattern; empty: none
  std::string peer;
  ErrorShape error_shape = ErrorShape::kOpenAi;
  std::string cors_origin;  // the page whose script asks, where it may; empty: none
  TraceContext trace;       // that the request belongs to
  double start_s = 0.0;     // of the steady clock

  // The connection's thread's.
  std::string model;  // that answers it; empty: none
  int status = 0;
  std::string error_code;
  int64_t prompt_tokens = 0;
  int64_t longest_answer = 0;  // in tokens
  int64_t cached_tokens = 0;
  int64_t num_chunks = 0;    // steps that the prompt took
  double submitted_s = 0.0;  // from the start until the engine had it; 0: it never did
  double queue_s = 0.0;
  double first_token_s = 0.0;  // 0: none came
  std::string finish_reason;   // of the first answer
  bool generates = false;
  std::vector<guard::Verdict> verdicts;  // of rules, in what was asked and answered
  bool metered = false;                  // it is counted against its key's quotas

  // Relaxed: figures, and a wish.
  std::atomic<int64_t> output_tokens = 0;
  std::atomic<bool> cancel = false;
};

// Bits of an id that no other has. Any thread.
uint64_t NewIdBits();
// Letters and digits that no other request has.
std::string NewRequestId();

// Requests that generate now: who administers can see and cancel them. Any thread.
class LiveRequests {
 public:
  // `wake` makes the request look at its record's `cancel`.
  void Add(std::shared_ptr<RequestRecord> record, std::function<void()> wake);
  void Remove(const RequestRecord& record);
  std::vector<std::shared_ptr<const RequestRecord>> List() const;
  bool empty() const;
  // False when no such request runs.
  bool Cancel(const std::string& id);
  void CancelAll();

 private:
  struct Entry {
    std::shared_ptr<RequestRecord> record;
    std::function<void()> wake;
  };
  mutable std::mutex mutex_;
  std::unordered_map<const RequestRecord*, Entry> entries_;  // guarded by mutex_
};

}  // namespace adit::server

#endif  // ADIT_SERVER_REQUEST_RECORD_H_
