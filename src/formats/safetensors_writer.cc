#include "formats/safetensors_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr size_t kMaxNameBytes = 128;

bool IsPlainName(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), plain);
}

// The header with its length in front, so that the elements begin at a multiple of 8.
std::string HeaderBytes(std::string_view name, std::span<const int64_t> shape, int64_t size_bytes) {
  std::string dimensions;
  for (const int64_t size : shape) dimensions += fmt::format("{}{}", dimensions.empty() ? "" : ",", size);
  std::string header =
      fmt::format(R"({{"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", name, dimensions, size_bytes);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header;
}

// `path` with links followed where it exists, so that a link stays one when the file behind it is replaced.
std::string FollowLinks(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

}  // namespace

Status SafetensorsWriter::SystemError(const char* what) const {
  return Io("safetensors: {}: cannot {}: {}", path_, what, std::strerror(errno));
}

Status SafetensorsWriter::OpenTarget(const std::string& path) {
  path_ = FollowLinks(path);
  struct stat info = {};
  if (::stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return InvalidArgument("safetensors: {} is a folder, wanted the name of a file", path);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ >= 0 ? Status() : SystemError("open for writing");
  }
  // A name that nobody has: the process id, and a number in case another writer of this process has the same target.
  for (int i = 0; fd_ < 0 && i < 100; ++i) {
    temporary_path_ = fmt::format("{}.{}-{}.tmp", path_, ::getpid(), i);
    fd_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ >= 0) return Status();
  temporary_path_.clear();
  return SystemError("create a file beside it");
}

Result<SafetensorsWriter> SafetensorsWriter::Create(const std::string& path, std::string_view name,
                                                    std::span<const int64_t> shape) {
  if (!IsPlainName(name)) {
    return InvalidArgument("safetensors: {}: tensor name {}: wanted 1 to {} letters, digits, '.', '_' and '-'", path,
                           Quoted(name), kMaxNameBytes);
  }
  int64_t num_elements = 1;
  int64_t size_bytes = 0;
  for (const int64_t size : shape) {
    if (size < 0) return InvalidArgument("safetensors: {}: dimension {} is negative", path, size);
    if (__builtin_mul_overflow(num_elements, size, &num_elements)) {
      return InvalidArgument("safetensors: {}: tensor '{}' has more than 2^63 - 1 elements", path, name);
    }
  }
  if (__builtin_mul_overflow(num_elements, int64_t{sizeof(float)}, &size_bytes)) {
    return InvalidArgument("safetensors: {}: tensor '{}' has more than 2^63 - 1 bytes", path, name);
  }
  SafetensorsWriter writer;
  ADIT_RETURN_IF_ERROR(writer.OpenTarget(path));
  writer.num_left_ = num_elements;
  const std::string header = HeaderBytes(name, shape, size_bytes);
  ADIT_RETURN_IF_ERROR(writer.WriteBytes(header.data(), header.size()));
  return writer;
}

SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&& other) noexcept { *this = std::move(other); }

SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&& other) noexcept {
  if (this != &other) {
    Abandon();
    path_ = std::move(other.path_);
    temporary_path_ = std::exchange(other.temporary_path_, std::string());
    fd_ = std::exchange(other.fd_, -1);
    num_left_ = other.num_left_;
  }
  return *this;
}

SafetensorsWriter::~SafetensorsWriter() { Abandon(); }

void SafetensorsWriter::Abandon() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  temporary_path_.clear();
}

Status SafetensorsWriter::WriteBytes(const void* data, size_t size_bytes) {
  const char* next = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t written = ::write(fd_, next, size_bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      return SystemError("write");
    }
    next += written;
    size_bytes -= static_cast<size_t>(written);
  }
  return Status();
}

Status SafetensorsWriter::Append(std::span<const float> values) {
  if (fd_ < 0) return FailedPrecondition("safetensors: {}: appended to after it was finished", path_);
  if (static_cast<int64_t>(values.size()) > num_left_) {
    return FailedPrecondition("safetensors: {}: {} elements appended, the shape has room for {}", path_, values.size(),
                              num_left_);
  }
  num_left_ -= static_cast<int64_t>(values.size());
  return WriteBytes(values.data(), values.size_bytes());
}

Status SafetensorsWriter::Finish() {
  if (fd_ < 0) return FailedPrecondition("safetensors: {}: finished twice", path_);
  if (num_left_ != 0) return FailedPrecondition("safetensors: {}: {} elements are missing", path_, num_left_);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) return SystemError("write");
  if (temporary_path_.empty()) return Status();
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) return SystemError("put in its place");
  temporary_path_.clear();
  return Status();
}

}  // namespace adit::formats
