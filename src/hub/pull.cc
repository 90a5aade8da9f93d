#include "hub/pull.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "hub/download.h"
#include "hub/file_choice.h"

namespace adit::hub {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHub = "https://huggingface.co";
constexpr size_t kMaxTokenBytes = 4096;

// Keeps other processes from fetching the same repository.
class RepositoryLock {
 public:
  RepositoryLock() = default;
  RepositoryLock(RepositoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  RepositoryLock& operator=(RepositoryLock&&) = delete;
  ~RepositoryLock() {
    if (file_ >= 0) ::close(file_);
  }

  static Result<RepositoryLock> Take(const std::string& folder, const std::string& repository) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Io("'{}': {}", folder, error.message());
    RepositoryLock lock;
    lock.file_ = ::open((folder + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock.file_ < 0) return Io("'{}/.lock': {}", folder, std::strerror(errno));
    if (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
      return FailedPrecondition("{} is being fetched by another process", repository);
    }
    return lock;
  }

 private:
  int file_ = -1;
};

std::string TokenOfUser() {
  std::string token = env::HubToken().value_or("");
  if (const std::optional<std::string> path = env::HubTokenFile(); token.empty() && path) {
    std::ifstream file(*path);
    std::getline(file, token);
  }
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= 0x20) token.pop_back();
  return token.size() <= kMaxTokenBytes ? token : std::string();
}

// Whether the file is there: of the right size, and by its hash if that is asked for or nobody has put down that it is.
Result<bool> IsThere(const std::string& path, const HubFile& file, bool is_trusted,
                     const DownloadProgress& on_progress) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  if (static_cast<int64_t>(fs::file_size(path, error)) != file.size_bytes) return false;
  return is_trusted ? Result<bool>(true) : IsFile(path, file, on_progress);
}

}  // namespace

Result<HubClient> HubOfUser(const std::atomic<bool>* cancel) {
  Result<HubClient> hub = HubClient::Create(
      {.endpoint = env::HubEndpoint().value_or(kHub), .token = TokenOfUser(), .limits = {.cancel = cancel}});
  if (!hub.ok()) return InvalidArgument("HF_ENDPOINT: {}", hub.status().message());
  return hub;
}

Result<PullResult> Pull(const HubClient& hub, const ModelStore& store, const ModelRef& ref, const PullOptions& options,
                        const std::function<void(const PullProgress&)>& on_progress) {
  ADIT_ASSIGN_OR_RETURN(const HubModel model, hub.Describe(ref));
  Result<FileChoice> choice = ChooseFiles(model.files, ref.quant, options.include);
  if (!choice.ok()) return Status(choice.status().code(), ref.repository + ": " + choice.status().message());
  ADIT_ASSIGN_OR_RETURN(const RepositoryLock lock,
                        RepositoryLock::Take(store.folder() + "/" + ref.repository, ref.repository));
  const std::string folder = store.FolderOf(ref.repository, model.commit);
  const Result<StoredModel> before =
      store.Find(ModelRef{.repository = ref.repository, .quant = choice->quant, .revision = model.commit}.ToString());
  PullResult result{.model = {.ref = {ref.repository, choice->quant, ref.revision.empty() ? "main" : ref.revision},
                              .commit = model.commit,
                              .open = choice->open,
                              .files = {},
                              .pulled_s = WholeUnixSeconds()}};
  PullProgress progress;
  for (const HubFile& file : choice->files) progress.total_bytes += file.size_bytes;
  for (const HubFile& file : choice->files) {
    const std::string path = folder + "/" + file.path;
    const int64_t base = progress.done_bytes;
    progress.file = file.path;
    int64_t first = -1;  // bytes of this file that an earlier run has left
    const auto tell = [&](int64_t done, bool is_verifying) {
      progress.is_verifying = is_verifying;
      if (!is_verifying && first < 0) progress.kept_bytes += first = done;
      progress.done_bytes = base + (is_verifying ? file.size_bytes : done);
      on_progress(progress);
    };
    ADIT_ASSIGN_OR_RETURN(const bool is_there, IsThere(path, file, before.ok() && !options.verify, tell));
    if (is_there) {
      progress.kept_bytes += file.size_bytes;
    } else {
      ADIT_RETURN_IF_ERROR(Download({.hub = hub,
                                     .repository = ref.repository,
                                     .commit = model.commit,
                                     .file = file,
                                     .path = path,
                                     .connections = options.connections,
                                     .resume = options.resume},
                                    tell));
      result.fetched_bytes += file.size_bytes - std::max<int64_t>(0, first);
    }
    progress.done_bytes = base + file.size_bytes;
    result.model.files.push_back({.path = file.path, .size_bytes = file.size_bytes});
  }
  ADIT_RETURN_IF_ERROR(store.Add(result.model));
  return result;
}

}  // namespace adit::hub
