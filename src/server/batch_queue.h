#ifndef ADIT_SERVER_BATCH_QUEUE_H_
#define ADIT_SERVER_BATCH_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adit/status.h"
#include "guard/rules.h"
#include "server/api_error.h"
#include "server/batch_record.h"
#include "server/batch_run.h"
#include "server/file_store.h"
#include "server/served_model.h"

namespace adit::server {

// What a queue of batches has to know of the server around it. Any thread.
class BatchHost {
 public:
  virtual ~BatchHost() = default;

  // The model of that name, the default where it is empty, once it is loaded, and kept as long as the result lives.
  // Cancelled when `give_up`, asked ten times a second, says so first; else why it cannot be had.
  virtual Result<std::shared_ptr<const ServedModel>> Model(const std::string& name,
                                                           const std::function<bool()>& give_up) = 0;
  // Rules that requests and answers pass by; null where there are none.
  virtual std::shared_ptr<const guard::Rules> Guard() { return nullptr; }
  // Requests of clients that wait for their answers are under way, or none are to begin.
  virtual bool IsBusy() = 0;
  // Whether a model that is kept may keep others from being loaded.
  virtual bool HasSeveralModels() = 0;
  // GenerationRequest::tenant_tokens of a tenant's requests.
  virtual int64_t TenantTokens(const std::string& tenant, const ServedModel& model) = 0;
  // Why a request is not taken by the model, whatever its kind.
  virtual std::optional<ApiError> Check(const ServedModel& served, const ApiRequest& request) = 0;
};

// Batches of requests, run one after the other on a thread of its own while nobody else wants the engine. They survive
// the process where their folder does: each line of an input is answered once. Any thread.
class BatchQueue {
 public:
  // Takes up what there is from before in a folder beside the files. `files` and `host` outlive the queue.
  static Result<std::unique_ptr<BatchQueue>> Open(FileStore& files, std::unique_ptr<BatchHost> host);
  // Stops after the result that is being written; the rest is for later.
  ~BatchQueue();

  // Takes a batch, whose id, number, status and times are the queue's to set. ResourceExhausted when it cannot be kept.
  Result<BatchRecord> Add(BatchRecord wanted);
  // Of one tenant; other tenants' batches are not there.
  std::optional<BatchRecord> Find(const std::string& tenant, const std::string& id) const;
  std::vector<BatchRecord> List(const std::string& tenant) const;  // the latest first
  // Ends it, with the results that there are. Nothing when it is not there; one that has ended stays as it is.
  std::optional<BatchRecord> Cancel(const std::string& tenant, const std::string& id);

 private:
  class Job;

  BatchQueue(FileStore& files, std::unique_ptr<BatchHost> host);
  std::string PathOf(const std::string& id) const { return folder_ + "/" + id + ".json"; }
  Status Scan();
  Status Save(const BatchRecord& record) const;
  void ThreadMain();
  // The batch that is next; waits for one. Nothing at the end of the queue.
  std::optional<BatchRecord> WaitForNext();
  void RunOne(BatchRecord record);
  Status Begin(BatchRecord& record, const std::string& input);
  // Runs what has no result yet, until it is done or is to stop: kAway where a model is given back to others.
  enum class RunEnd : uint8_t { kDone, kStopped, kAway };
  Result<RunEnd> RunLines(BatchRecord& record, const std::string& input);
  Status RunAllLines(BatchRecord& record, const std::string& input);
  bool IsToStop(const BatchRecord& record) const;
  void End(BatchRecord& record, const Status& status, const std::string& input);
  // What is told of lines that a batch has no time for.
  Status TellExpired(BatchRecord& record, const std::string& input);
  void Finish(BatchRecord& record, BatchStatus status);
  void Update(const BatchRecord& record);
  bool IsCancelled(const std::string& id) const;

  FileStore& files_;
  const std::unique_ptr<BatchHost> host_;
  const std::string folder_;
  std::atomic<bool> stopping_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::map<std::string, BatchRecord> batches_;
  int64_t next_number_ = 0;

  std::thread thread_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_BATCH_QUEUE_H_
