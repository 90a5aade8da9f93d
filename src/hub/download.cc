#include "hub/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "formats/atomic_file.h"
#include "hub/digest.h"
#include "hub/part_map.h"

namespace adit::hub {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int64_t kMinPartBytes = int64_t{1} << 20;
constexpr int64_t kMaxPartBytes = int64_t{64} << 20;
constexpr milliseconds kBetweenTellings{100};
constexpr milliseconds kBetweenSaves{1000};
constexpr milliseconds kFirstPause{200};
constexpr milliseconds kLongestPause{10'000};

// Parts small enough that connections end together, and large enough that asking for them costs nothing.
int64_t PartBytes(int64_t size_bytes, int connections) {
  return std::clamp(size_bytes / (int64_t{4} * connections), kMinPartBytes, kMaxPartBytes);
}

std::string HashOf(const HubFile& file) { return file.sha256.empty() ? file.git_blob : file.sha256; }

Digest DigestOf(const HubFile& file) {
  return file.sha256.empty() ? Digest::GitBlob(file.size_bytes) : Digest::Sha256();
}

// Whether another try may go better.
bool MayPass(const Status& status) { return status.code() == StatusCode::kIo; }

// A file on its way: threads fetch parts, the caller's thread tells and saves how far they are.
class Transfer {
 public:
  explicit Transfer(const DownloadJob& job)
      : job_(job),
        part_path_(job.path + ".part"),
        map_path_(job.path + ".part.map"),
        map_(HashOf(job.file), job.file.size_bytes, PartBytes(job.file.size_bytes, job.connections)) {}
  ~Transfer() {
    if (file_ >= 0) ::close(file_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Status Run(const DownloadProgress& on_progress);

 private:
  Status Open();
  // What a run before this one has left.
  void Resume();
  Status CheckRoom() const;
  // Fetches what is wanting; the first error that another try does not help.
  Status FetchAll(const DownloadProgress& on_progress);
  void Work();
  Status FetchRange(const PartMap::Range& range);
  // Waits before a further try; false when there is none to be.
  bool Pause(int failures);
  void Fail(const Status& status);
  bool is_cancelled() const {
    const std::atomic<bool>* cancel = job_.hub.options().limits.cancel;
    return cancel != nullptr && cancel->load(std::memory_order_relaxed);
  }
  Status Save() const;
  Status Finish(const DownloadProgress& on_progress);
  void Forget() const;

  const DownloadJob& job_;
  const std::string part_path_;
  const std::string map_path_;
  int file_ = -1;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  PartMap map_;
  Status failure_;
  int num_working_ = 0;
};

Status Transfer::Open() {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(job_.path).parent_path(), error);
  if (error) return Io("'{}': {}", job_.path, error.message());
  file_ = ::open(part_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) return Io("'{}': {}", part_path_, std::strerror(errno));
  struct stat info = {};
  if (::fstat(file_, &info) != 0) return Io("'{}': {}", part_path_, std::strerror(errno));
  if (job_.resume && info.st_size == job_.file.size_bytes) Resume();
  ADIT_RETURN_IF_ERROR(CheckRoom());
  if (::ftruncate(file_, job_.file.size_bytes) != 0) return Io("'{}': {}", part_path_, std::strerror(errno));
  return Status();
}

void Transfer::Resume() {
  std::ifstream file(map_path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (auto map = PartMap::Parse(text, HashOf(job_.file), job_.file.size_bytes); map) map_ = *std::move(map);
}

Status Transfer::CheckRoom() const {
  struct statvfs info = {};
  if (::fstatvfs(file_, &info) != 0) return Status();
  const auto free_bytes = static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
  const int64_t wanted = map_.size_bytes() - map_.done_bytes();
  if (free_bytes >= wanted) return Status();
  return Io("'{}': no space left: {} bytes are wanted, {} are free", job_.path, wanted, free_bytes);
}

Status Transfer::FetchRange(const PartMap::Range& range) {
  int64_t at = range.begin;
  ADIT_RETURN_IF_ERROR(job_.hub.Read(
      job_.repository, job_.commit, job_.file, range.begin, range.end, [&](const HttpAnswer&, std::string_view bytes) {
        if (static_cast<int64_t>(bytes.size()) > range.end - at) {
          return Corrupt("{}: more comes than the hub tells of, {} bytes", job_.file.path, job_.file.size_bytes);
        }
        for (size_t written = 0; written < bytes.size();) {
          const ssize_t count =
              ::pwrite(file_, bytes.data() + written, bytes.size() - written, at + static_cast<int64_t>(written));
          if (count < 0 && errno == EINTR) continue;
          // No further try makes room.
          if (count < 0) return FailedPrecondition("'{}': {}", part_path_, std::strerror(errno));
          written += static_cast<size_t>(count);
        }
        at += static_cast<int64_t>(bytes.size());
        const std::lock_guard lock(mutex_);
        map_.Advance(range.part, static_cast<int64_t>(bytes.size()));
        return failure_.ok() ? Status() : Cancelled("stopped");
      }));
  if (at < range.end) return Io("{}: the answer ended early", job_.file.path);
  return Status();
}

bool Transfer::Pause(int failures) {
  if (failures >= job_.max_tries) return false;
  const auto pause = std::min(kLongestPause, kFirstPause * (1 << std::min(failures, 10)));
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, pause, [this] { return !failure_.ok(); });
  return failure_.ok();
}

void Transfer::Fail(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status;
  changed_.notify_all();
}

void Transfer::Work() {
  int failures = 0;  // in a row
  while (true) {
    std::optional<PartMap::Range> range;
    {
      const std::lock_guard lock(mutex_);
      if (failure_.ok()) range = map_.Take();
    }
    if (!range) break;
    const int64_t had = range->begin;
    const Status status = FetchRange(*range);
    int64_t has = had;
    {
      const std::lock_guard lock(mutex_);
      map_.Release(range->part);
      if (const auto again = status.ok() ? std::nullopt : map_.Take(); again) {
        // Only to see how far it has come.
        if (again->part == range->part) has = again->begin;
        map_.Release(again->part);
      }
    }
    if (status.ok()) {
      failures = 0;
      continue;
    }
    failures = has > had ? 1 : failures + 1;
    if (!MayPass(status) || !Pause(failures)) {
      Fail(status);
      break;
    }
  }
  const std::lock_guard lock(mutex_);
  --num_working_;
  changed_.notify_all();
}

Status Transfer::FetchAll(const DownloadProgress& on_progress) {
  std::vector<std::jthread> workers;
  {
    const std::lock_guard lock(mutex_);
    failure_ = Status();
    num_working_ = job_.connections;
  }
  for (int i = 0; i < job_.connections; ++i) workers.emplace_back([this] { Work(); });
  auto next_save = steady_clock::now() + kBetweenSaves;
  std::unique_lock lock(mutex_);
  while (num_working_ > 0) {
    changed_.wait_for(lock, kBetweenTellings, [this] { return num_working_ == 0; });
    if (is_cancelled() && failure_.ok()) {
      failure_ = Cancelled("stopped");
      changed_.notify_all();
    }
    const int64_t done = map_.done_bytes();
    const bool is_time = steady_clock::now() >= next_save;
    if (is_time) next_save = steady_clock::now() + kBetweenSaves;
    if (is_time) (void)Save();
    lock.unlock();
    on_progress(done, /*is_verifying=*/false);
    lock.lock();
  }
  return map_.complete() ? Status() : failure_;
}

// Precondition: mutex_ is held, or no worker is left.
Status Transfer::Save() const {
  ADIT_ASSIGN_OR_RETURN(formats::AtomicFile file, formats::AtomicFile::Create(map_path_, "download"));
  const std::string text = map_.ToText();
  ADIT_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Finish();
}

void Transfer::Forget() const {
  (void)::unlink(part_path_.c_str());
  (void)::unlink(map_path_.c_str());
}

Status Transfer::Finish(const DownloadProgress& on_progress) {
  ADIT_ASSIGN_OR_RETURN(const bool is_right, IsFile(part_path_, job_.file, on_progress));
  if (!is_right) {
    Forget();
    return Corrupt(
        "{}: what came has another hash than the hub tells of, {}; it is removed, and the same command "
        "fetches it anew",
        job_.file.path, HashOf(job_.file));
  }
  if (::fdatasync(file_) != 0) return Io("'{}': {}", part_path_, std::strerror(errno));
  if (::rename(part_path_.c_str(), job_.path.c_str()) != 0) return Io("'{}': {}", job_.path, std::strerror(errno));
  (void)::unlink(map_path_.c_str());
  return Status();
}

Status Transfer::Run(const DownloadProgress& on_progress) {
  ADIT_RETURN_IF_ERROR(Open());
  on_progress(map_.done_bytes(), /*is_verifying=*/false);
  Status status = FetchAll(on_progress);
  // A server that sends whole files alone: from the beginning, as often as it is cut.
  for (int i = 0; i < job_.max_tries && status.code() == StatusCode::kUnsupported; ++i) {
    map_ = PartMap(HashOf(job_.file), job_.file.size_bytes, std::max<int64_t>(1, job_.file.size_bytes));
    status = FetchAll(on_progress);
  }
  if (!status.ok()) {
    (void)Save();
    if (status.code() == StatusCode::kCancelled) {
      return Cancelled("{}: stopped; the same command goes on from here", job_.file.path);
    }
    return status;
  }
  return Finish(on_progress);
}

}  // namespace

Result<bool> IsFile(const std::string& path, const HubFile& file, const DownloadProgress& on_progress) {
  ADIT_ASSIGN_OR_RETURN(const std::string hash, HashFile(path, DigestOf(file), [&](int64_t done) {
                          on_progress(done, /*is_verifying=*/true);
                          return Status();
                        }));
  return hash == HashOf(file);
}

Status Download(const DownloadJob& job, const DownloadProgress& on_progress) { return Transfer(job).Run(on_progress); }

}  // namespace adit::hub
