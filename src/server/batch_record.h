#ifndef ADIT_SERVER_BATCH_RECORD_H_
#define ADIT_SERVER_BATCH_RECORD_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "server/api_request.h"

namespace adit::server {

enum class BatchStatus : uint8_t {
  kValidating,
  kFailed,
  kInProgress,
  kFinalizing,
  kCompleted,
  kExpired,
  kCancelling,
  kCancelled,
};
inline constexpr int kNumBatchStatuses = 8;
// "validating", "in_progress", ...
std::string_view BatchStatusName(BatchStatus status);

// What is wrong with a batch as a whole.
struct BatchFault {
  std::string code;
  std::string message;
  int64_t line = 0;  // 0: none
};

// All that is known of a batch. Times are seconds of the time of day, 0: it has not come to that.
struct BatchRecord {
  std::string id;  // "batch_..."
  std::string tenant;
  ApiKind kind = ApiKind::kChat;
  std::string input_file_id;
  std::string completion_window = "24h";
  std::string metadata = "null";  // JSON
  std::optional<int64_t> output_ttl_s;
  int64_t number = 0;  // later batches have higher ones

  BatchStatus status = BatchStatus::kValidating;
  std::string output_file_id;  // from the start of its run on; empty: none
  std::string error_file_id;
  std::vector<BatchFault> faults;
  int64_t total = 0;
  int64_t completed = 0;
  int64_t failed = 0;
  int64_t expires_s = 0;
  int64_t reached_s[kNumBatchStatuses] = {};  // [BatchStatus]

  bool ended() const {
    return status == BatchStatus::kFailed || status == BatchStatus::kCompleted || status == BatchStatus::kExpired ||
           status == BatchStatus::kCancelled;
  }
  void Reach(BatchStatus next, int64_t now_s);
};

// The batch as OpenAI's clients are told of it. Files with results are named when it has ended.
nlohmann::ordered_json BatchJson(const BatchRecord& record);

// As it is kept, and read again: nothing for a text that is none.
std::string RecordText(const BatchRecord& record);
std::optional<BatchRecord> ReadRecord(const std::string& id, const std::string& text);

// What is wrong with a file of requests of this kind, at most 32 faults; each line has a custom_id of its own.
// `num_requests` gets their number.
std::vector<BatchFault> CheckBatchInput(std::string_view text, ApiKind kind, int64_t& num_requests);

// Of a file with results: the ids that it answers, and the bytes of its whole lines, behind which a kill may have left
// a torn one.
struct BatchResults {
  std::unordered_set<std::string> custom_ids;
  size_t whole_bytes = 0;
};
BatchResults ReadBatchResults(std::string_view text);

// The lines of a text one after the other; those that hold nothing are passed over, and count.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}
  // False at the end.
  bool Next(std::string_view& line);
  int64_t number() const { return number_; }  // of the last one, from 1

 private:
  std::string_view rest_;
  int64_t number_ = 0;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_BATCH_RECORD_H_
