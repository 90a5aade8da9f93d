#include "server/batch_queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "server/batch_line.h"
#include "server/disk_file.h"
#include "server/guarded_body.h"
#include "server/private_folder.h"
#include "server/request_record.h"
#include "server/response_store.h"

namespace adit::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBatches = "batches";
// As many as make good use of the engine, and of them one in its prompt, so that whoever comes waits for no more.
constexpr size_t kMaxLive = 16;
constexpr size_t kMaxPrefill = 1;
// Tokens after which a request rests whose queue has paused.
constexpr int64_t kMaxUnread = 4;
// How often it is looked whether clients still wait.
constexpr std::chrono::milliseconds kPatience{100};
// For how long a model that others may wait for is kept while the queue rests.
constexpr std::chrono::seconds kKeepModel{2};

// The model that the first request of an input names; empty where it names none.
std::string FirstModelOf(const std::string& input) {
  TextLines lines(input);
  for (std::string_view line; lines.Next(line);) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("body") || !json["body"].is_object()) continue;
    const auto model = json["body"].find("model");
    return model != json["body"].end() && model->is_string() ? model->get<std::string>() : "";
  }
  return {};
}

}  // namespace

// One batch while its lines are run.
class BatchQueue::Job : public BatchJob {
 public:
  Job(BatchQueue& queue, BatchRecord& record, const ServedModel& served, const std::string& input,
      std::unordered_set<std::string> answered)
      : queue_(queue), record_(record), served_(served), lines_(input), answered_(std::move(answered)) {}

  // Whether it has stopped for the sake of other models.
  bool away() const { return away_; }

  Result<bool> Next(BatchInputLine& line) override {
    std::string_view text;
    if (!lines_.Next(text)) return false;
    line.number = lines_.number();
    line.text = text;
    if (rules_ != nullptr) PassByRules(line.text);
    return true;
  }
  bool IsAnswered(int64_t, const std::optional<std::string>& custom_id) const override {
    return custom_id && answered_.contains(*custom_id);
  }
  std::optional<ApiError> Prepare(ApiRequest& request) override {
    if (request.stream.on) {
      return ApiError{
          .code = "unsupported_parameter", .message = "'stream' is not supported in a batch", .param = "stream"};
    }
    if (auto error = queue_.host_->Check(served_, request); error) return error;
    if (rules_ != nullptr) {
      if (blocked_) return blocked_;
      if (auto error = CheckGuarded(request, *rules_); error) return error;
      request.guard = rules_;
      request.input_verdicts = verdicts_;
    }
    request.generation.priority = kIdlePriority;
    request.generation.max_unread = kMaxUnread;
    request.generation.tenant = served_.TenantIndex(record_.tenant);
    request.generation.tenant_tokens = queue_.host_->TenantTokens(record_.tenant, served_);
    request.generation.cache_salt = record_.tenant + '\n' + request.generation.cache_salt;
    return std::nullopt;
  }
  Status Write(const std::string& line, bool failed) override {
    ADIT_RETURN_IF_ERROR(queue_.files_.Append(failed ? record_.error_file_id : record_.output_file_id, line));
    ++(failed ? record_.failed : record_.completed);
    return Status();
  }
  BatchPace Pace() override {
    if (queue_.IsToStop(record_)) return BatchPace::kStop;
    const auto now = std::chrono::steady_clock::now();
    if (!queue_.host_->IsBusy()) {
      busy_since_ = now;
      return BatchPace::kGo;
    }
    away_ = now - busy_since_ > kKeepModel && queue_.host_->HasSeveralModels();
    return away_ ? BatchPace::kStop : BatchPace::kPause;
  }
  void Progress(const BatchSummary&, int64_t) override { queue_.Update(record_); }

 private:
  // What the rules make of the texts of a line.
  void PassByRules(std::string& text) {
    verdicts_.clear();
    blocked_.reset();
    auto line = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object() || !line.contains("body") || !line["body"].is_object()) return;
    bool changed = false;
    blocked_ = GuardBody(*rules_, served_.api().tokenizer, line["body"], verdicts_, changed);
    if (changed) text = line.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace);
  }

  BatchQueue& queue_;
  BatchRecord& record_;
  const ServedModel& served_;
  const std::shared_ptr<const guard::Rules> rules_ = queue_.host_->Guard();
  // Of the line that has been read last.
  std::vector<guard::Verdict> verdicts_;
  std::optional<ApiError> blocked_;

  TextLines lines_;
  std::chrono::steady_clock::time_point busy_since_ = std::chrono::steady_clock::now();
  bool away_ = false;
  const std::unordered_set<std::string> answered_;
};

BatchQueue::BatchQueue(FileStore& files, std::unique_ptr<BatchHost> host)
    : files_(files), host_(std::move(host)), folder_(files.folder() + "/batches") {}

Result<std::unique_ptr<BatchQueue>> BatchQueue::Open(FileStore& files, std::unique_ptr<BatchHost> host) {
  std::unique_ptr<BatchQueue> queue(new BatchQueue(files, std::move(host)));
  ADIT_RETURN_IF_ERROR(PrivateFolder::Make(queue->folder_, kBatches).status());
  ADIT_RETURN_IF_ERROR(queue->Scan());
  try {
    queue->thread_ = std::thread([raw = queue.get()] { raw->ThreadMain(); });
  } catch (const std::system_error& error) {
    return ResourceExhausted("batches: no thread to be had: {}", error.what());
  }
  return queue;
}

BatchQueue::~BatchQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status BatchQueue::Scan() {
  std::error_code error;
  const std::lock_guard lock(mutex_);
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const fs::path path = at->path();
    std::error_code ignored;
    if (path.extension() == kUnfinishedEnding) fs::remove(path, ignored);
    const std::string id = path.stem().string();
    if (path.extension() != ".json" || !ResponseStore::IsId(id)) continue;
    const Result<std::string> text = ReadWholeFile(path.string(), kBatches);
    std::optional<BatchRecord> record = text.ok() ? ReadRecord(id, *text) : std::nullopt;
    if (!record) continue;
    next_number_ = std::max(next_number_, record->number + 1);
    batches_[id] = *std::move(record);
  }
  if (error) return Io("batches: '{}': {}", folder_, error.message());
  return Status();
}

Status BatchQueue::Save(const BatchRecord& record) const {
  return WriteWholeFile(PathOf(record.id), RecordText(record), kBatches);
}

Result<BatchRecord> BatchQueue::Add(BatchRecord wanted) {
  const std::lock_guard lock(mutex_);
  // What nobody can get results of any more goes with its files.
  std::erase_if(batches_, [this](const auto& entry) {
    const BatchRecord& old = entry.second;
    if (!old.ended() || files_.Find(old.tenant, old.input_file_id) || files_.Find(old.tenant, old.output_file_id) ||
        files_.Find(old.tenant, old.error_file_id)) {
      return false;
    }
    std::error_code ignored;
    fs::remove(PathOf(old.id), ignored);
    return true;
  });
  wanted.id = "batch_" + NewRequestId();
  wanted.number = next_number_++;
  const int64_t now_s = WholeUnixSeconds();
  wanted.Reach(BatchStatus::kValidating, now_s);
  wanted.expires_s = now_s + 24 * 3600;
  ADIT_RETURN_IF_ERROR(Save(wanted));
  batches_[wanted.id] = wanted;
  changed_.notify_all();
  return wanted;
}

std::optional<BatchRecord> BatchQueue::Find(const std::string& tenant, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = batches_.find(id);
  if (found == batches_.end() || found->second.tenant != tenant) return std::nullopt;
  return found->second;
}

std::vector<BatchRecord> BatchQueue::List(const std::string& tenant) const {
  std::vector<BatchRecord> list;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, record] : batches_) {
      if (record.tenant == tenant) list.push_back(record);
    }
  }
  std::sort(list.begin(), list.end(), [](const BatchRecord& a, const BatchRecord& b) { return a.number > b.number; });
  return list;
}

std::optional<BatchRecord> BatchQueue::Cancel(const std::string& tenant, const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = batches_.find(id);
  if (found == batches_.end() || found->second.tenant != tenant) return std::nullopt;
  BatchRecord& record = found->second;
  if (!record.ended() && record.status != BatchStatus::kCancelling) {
    record.Reach(BatchStatus::kCancelling, WholeUnixSeconds());
    // When it cannot be kept the cancelling is lost with the process, and the batch goes on.
    (void)Save(record);
    changed_.notify_all();
  }
  return record;
}

bool BatchQueue::IsCancelled(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  return batches_.at(id).status == BatchStatus::kCancelling;
}

// Of the thread's own copy; that it is cancelled is told by others.
void BatchQueue::Update(const BatchRecord& record) {
  const std::lock_guard lock(mutex_);
  BatchRecord& known = batches_.at(record.id);
  const bool cancelling = known.status == BatchStatus::kCancelling && !record.ended();
  const int64_t since_s = known.reached_s[static_cast<size_t>(BatchStatus::kCancelling)];
  known = record;
  known.reached_s[static_cast<size_t>(BatchStatus::kCancelling)] = since_s;
  if (cancelling) known.status = BatchStatus::kCancelling;
}

void BatchQueue::ThreadMain() {
  while (std::optional<BatchRecord> next = WaitForNext()) RunOne(*std::move(next));
}

std::optional<BatchRecord> BatchQueue::WaitForNext() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const BatchRecord* next = nullptr;
    for (const auto& [id, record] : batches_) {
      if (!record.ended() && (next == nullptr || record.number < next->number)) next = &record;
    }
    if (next != nullptr) return *next;
    changed_.wait(lock);
  }
  return std::nullopt;
}

void BatchQueue::RunOne(BatchRecord record) {
  Result<std::string> input = files_.Find(record.tenant, record.input_file_id) ? files_.Read(record.input_file_id)
                                                                               : NotFound("the input file has gone");
  if (!input.ok()) {
    record.faults.push_back({.code = "file_not_found", .message = input.status().message()});
    return Finish(record, BatchStatus::kFailed);
  }
  Status status = Begin(record, *input);
  if (record.ended()) return;
  if (status.ok()) status = RunAllLines(record, *input);
  End(record, status, *input);
}

bool BatchQueue::IsToStop(const BatchRecord& record) const {
  return stopping_ || WholeUnixSeconds() >= record.expires_s || IsCancelled(record.id);
}

// A model that is kept while clients have the engine would keep those waiting who want another one: it is given back,
// and what has no result by then is begun again.
Status BatchQueue::RunAllLines(BatchRecord& record, const std::string& input) {
  for (;;) {
    while (host_->IsBusy() && !IsToStop(record)) std::this_thread::sleep_for(kPatience);
    ADIT_ASSIGN_OR_RETURN(const RunEnd end, RunLines(record, input));
    if (end != RunEnd::kAway) return Status();
  }
}

// Checks the input of one that is new, and makes its files.
Status BatchQueue::Begin(BatchRecord& record, const std::string& input) {
  if (record.total == 0) {
    record.faults = CheckBatchInput(input, record.kind, record.total);
    if (!record.faults.empty()) {
      Finish(record, BatchStatus::kFailed);
      return Status();
    }
  }
  for (const bool is_error : {false, true}) {
    std::string& id = is_error ? record.error_file_id : record.output_file_id;
    if (!id.empty() && files_.Find(record.tenant, id)) continue;
    ADIT_ASSIGN_OR_RETURN(const StoredFile file,
                          files_.Add({.tenant = record.tenant,
                                      .filename = fmt::format("{}_{}.jsonl", record.id, is_error ? "error" : "output"),
                                      .purpose = "batch_output",
                                      .ttl_s = record.output_ttl_s},
                                     ""));
    id = file.id;
  }
  if (record.status == BatchStatus::kValidating) record.Reach(BatchStatus::kInProgress, WholeUnixSeconds());
  Update(record);
  const std::lock_guard lock(mutex_);
  return Save(batches_.at(record.id));
}

Result<BatchQueue::RunEnd> BatchQueue::RunLines(BatchRecord& record, const std::string& input) {
  std::unordered_set<std::string> answered;
  for (const bool is_error : {false, true}) {
    const std::string& id = is_error ? record.error_file_id : record.output_file_id;
    ADIT_ASSIGN_OR_RETURN(const std::string text, files_.Read(id));
    BatchResults results = ReadBatchResults(text);
    ADIT_RETURN_IF_ERROR(files_.Cut(id, results.whole_bytes));
    (is_error ? record.failed : record.completed) = static_cast<int64_t>(results.custom_ids.size());
    answered.merge(results.custom_ids);
  }
  // All lines of a batch are for one model.
  const Result<std::shared_ptr<const ServedModel>> served =
      host_->Model(FirstModelOf(input), [&] { return IsToStop(record); });
  if (served.status().code() == StatusCode::kCancelled) return RunEnd::kStopped;
  ADIT_RETURN_IF_ERROR(served.status());
  Job job(*this, record, **served, input, std::move(answered));
  ADIT_ASSIGN_OR_RETURN(const BatchSummary summary, RunBatch((*served)->engine(), (*served)->api(), job,
                                                             {.max_live = kMaxLive, .max_prefill = kMaxPrefill}));
  Update(record);
  if (job.away()) return RunEnd::kAway;
  if (summary.interrupted) return RunEnd::kStopped;
  record.Reach(BatchStatus::kFinalizing, WholeUnixSeconds());
  return RunEnd::kDone;
}

void BatchQueue::End(BatchRecord& record, const Status& status, const std::string& input) {
  if (!status.ok()) {
    const bool is_full = status.code() == StatusCode::kResourceExhausted;
    record.faults.push_back({.code = is_full ? "insufficient_storage" : "internal_error", .message = status.message()});
    return Finish(record, BatchStatus::kFailed);
  }
  if (record.status == BatchStatus::kFinalizing) return Finish(record, BatchStatus::kCompleted);
  if (IsCancelled(record.id)) return Finish(record, BatchStatus::kCancelled);
  if (stopping_) return Update(record);
  const Status told = TellExpired(record, input);
  if (!told.ok()) record.faults.push_back({.code = "insufficient_storage", .message = told.message()});
  Finish(record, BatchStatus::kExpired);
}

Status BatchQueue::TellExpired(BatchRecord& record, const std::string& input) {
  std::unordered_set<std::string> answered;
  for (const std::string& id : {record.output_file_id, record.error_file_id}) {
    ADIT_ASSIGN_OR_RETURN(const std::string text, files_.Read(id));
    answered.merge(ReadBatchResults(text).custom_ids);
  }
  TextLines lines(input);
  for (std::string_view line; lines.Next(line);) {
    const std::optional<std::string> custom_id = CustomIdOf(line);
    if (!custom_id || answered.contains(*custom_id)) continue;
    const BatchLineError error{
        .custom_id = custom_id,
        .error = {.code = "batch_expired", .message = "the request could not be run within the completion window"}};
    ADIT_RETURN_IF_ERROR(files_.Append(record.error_file_id, BatchErrorLine(NewRequestId(), error, lines.number())));
    ++record.failed;
  }
  return Status();
}

// Files without results go.
void BatchQueue::Finish(BatchRecord& record, BatchStatus status) {
  for (std::string* id : {&record.output_file_id, &record.error_file_id}) {
    const std::optional<StoredFile> file = files_.Find(record.tenant, *id);
    if (file && file->bytes > 0) continue;
    if (file) (void)files_.Delete(record.tenant, *id);
    id->clear();
  }
  record.Reach(status, WholeUnixSeconds());
  Update(record);
  const std::lock_guard lock(mutex_);
  // When it cannot be kept, the next process finds all lines answered and ends the batch again.
  (void)Save(batches_.at(record.id));
}

}  // namespace adit::server
