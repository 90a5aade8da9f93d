#include "server/private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/error.h"

namespace adit::server {
namespace {

namespace fs = std::filesystem;

// Between being made and being locked a folder looks as if nobody held it.
constexpr double kLeastAgeS = 60.0;

int OpenFolder(const char* path) { return ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

// Removes a temporary folder of this user whose server has ended.
void RemoveIfAbandoned(const fs::path& path) {
  const int folder = OpenFolder(path.c_str());
  if (folder < 0) return;
  struct stat info = {};
  const bool is_old = ::fstat(folder, &info) == 0 && info.st_uid == ::geteuid() &&
                      UnixSeconds() - static_cast<double>(info.st_mtim.tv_sec) > kLeastAgeS;
  if (is_old && ::flock(folder, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ::close(folder);
}

void RemoveAbandoned(const fs::path& place, const std::string& beginning) {
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(beginning)) RemoveIfAbandoned(at->path());
  }
}

}  // namespace

Result<PrivateFolder> PrivateFolder::Make(const std::string& path, std::string_view what) {
  std::error_code error;
  if (!path.empty()) {
    fs::create_directories(path, error);
    if (error) return Io("{}: '{}': {}", what, path, error.message());
    if (::chmod(path.c_str(), 0700) != 0) return Io("{}: '{}': {}", what, path, std::strerror(errno));
    return PrivateFolder(path, kNotTemporary);
  }
  fs::path place = fs::temp_directory_path(error);
  if (error) place = "/tmp";
  const std::string beginning = "adit-" + std::string(what) + "-";
  RemoveAbandoned(place, beginning);
  std::string name = place / (beginning + "XXXXXX");
  if (::mkdtemp(name.data()) == nullptr) return Io("{}: '{}': {}", what, name, std::strerror(errno));
  const int folder = OpenFolder(name.c_str());
  if (folder < 0) {
    const int reason = errno;
    (void)::rmdir(name.c_str());
    return Io("{}: '{}': {}", what, name, std::strerror(reason));
  }
  // Where a file system has no locks, others cannot take this one either.
  (void)::flock(folder, LOCK_EX | LOCK_NB);
  return PrivateFolder(std::move(name), folder);
}

PrivateFolder::~PrivateFolder() {
  if (lock_ == kNotTemporary) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace adit::server
