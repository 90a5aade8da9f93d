#include "cli/batch_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/error.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "server/batch_line.h"

namespace adit::cli {
namespace {

using server::AnsweredBy;
using server::CustomIdOf;
using server::kBatchResultStart;

Status SystemError(const std::string& path, const char* what) {
  return Io("{}: cannot {}: {}", OneLine(path), what, std::strerror(errno));
}

// Only such a file can be read twice, and cut.
Status CheckRegular(const std::string& path, int fd) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return SystemError(path, "open");
  if (S_ISREG(info.st_mode)) return Status();
  return Io("{}: {}, wanted a regular file", OneLine(path), S_ISDIR(info.st_mode) ? "a folder" : "a pipe or device");
}

bool IsEmptyLine(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) ::close(fd_);
}

OwnedFd::OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

BatchInput::BatchInput(std::string path, OwnedFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

Result<BatchInput> BatchInput::Open(const std::string& path) {
  OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return SystemError(path, "open");
  ADIT_RETURN_IF_ERROR(CheckRegular(path, fd.get()));
  BatchInput input(path, std::move(fd));
  ADIT_RETURN_IF_ERROR(input.Rewind());
  return input;
}

Status BatchInput::Rewind() {
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0) return SystemError(path_, "read");
  reader_ = std::make_unique<LineReader>(fd_.get(), kMaxLineBytes, OneLine(path_));
  line_number_ = 0;
  return Status();
}

Result<bool> BatchInput::Next(Line& line) {
  while (true) {
    ++line_number_;
    const Result<LineReader::Outcome> outcome = reader_->Next(line.text);
    line.number = line_number_;
    line.too_long = outcome.status().code() == StatusCode::kInvalidArgument;
    if (line.too_long) return true;
    if (!outcome.ok()) return outcome.status();
    if (*outcome == LineReader::Outcome::kEnd) return false;
    if (!IsEmptyLine(line.text)) return true;
  }
}

Result<int64_t> BatchInput::CountNew(const AnsweredRequests& answered) {
  std::unordered_map<std::string, int64_t> seen;
  int64_t num_new = 0;
  for (Line line;;) {
    ADIT_ASSIGN_OR_RETURN(const bool more, Next(line));
    if (!more) break;
    const std::optional<std::string> id = line.too_long ? std::nullopt : CustomIdOf(line.text);
    if (id) {
      const auto [first, is_new] = seen.try_emplace(*id, line.number);
      if (!is_new) {
        return Corrupt("{}: lines {} and {} have the same custom_id '{}'", OneLine(path_), first->second, line.number,
                       OneLine(*id, kMaxShownBytes));
      }
    }
    num_new += answered.Has(line.number, id) ? 0 : 1;
  }
  ADIT_RETURN_IF_ERROR(Rewind());
  return num_new;
}

BatchOutput::BatchOutput(std::string path, OwnedFd fd, bool overwrite)
    : path_(std::move(path)), fd_(std::move(fd)), overwrite_(overwrite) {}

Result<BatchOutput> BatchOutput::Open(const std::string& path, bool overwrite) {
  OwnedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666));
  if (fd.get() < 0) return SystemError(path, "write");
  ADIT_RETURN_IF_ERROR(CheckRegular(path, fd.get()));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Io("{}: another adit batch is writing to it", OneLine(path));
    // File systems without locks work as well, if one takes care.
  }
  BatchOutput output(path, std::move(fd), overwrite);
  if (!overwrite) {
    ADIT_RETURN_IF_ERROR(output.CutTornLine());
    ADIT_RETURN_IF_ERROR(output.ReadAnswered());
  }
  return output;
}

// Behind the last line end there is nothing, or a line that a kill cut short.
Status BatchOutput::CutTornLine() {
  const off_t size = ::lseek(fd_.get(), 0, SEEK_END);
  if (size < 0) return SystemError(path_, "read");
  char buffer[4096];
  off_t begin = size;  // of the torn line
  bool found = false;
  while (begin > 0 && !found) {
    const auto wanted = std::min<off_t>(begin, sizeof(buffer));
    if (::pread(fd_.get(), buffer, static_cast<size_t>(wanted), begin - wanted) != wanted) {
      return SystemError(path_, "read");
    }
    const std::string_view bytes(buffer, static_cast<size_t>(wanted));
    const size_t line_end = bytes.rfind('\n');
    found = line_end != std::string_view::npos;
    begin -= found ? static_cast<off_t>(bytes.size() - line_end - 1) : wanted;
  }
  if (begin == size) return Status();
  char start[kBatchResultStart.size()];
  const auto length = static_cast<size_t>(std::min<off_t>(size - begin, sizeof(start)));
  if (::pread(fd_.get(), start, length, begin) != static_cast<ssize_t>(length)) return SystemError(path_, "read");
  if (std::string_view(start, length) != kBatchResultStart.substr(0, length)) {
    return Corrupt("{}: its last line is no result of adit batch; --overwrite starts anew", OneLine(path_));
  }
  return ::ftruncate(fd_.get(), begin) == 0 ? Status() : SystemError(path_, "write");
}

Status BatchOutput::ReadAnswered() {
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0) return SystemError(path_, "read");
  LineReader reader(fd_.get(), kMaxInputBytes, OneLine(path_));
  std::string text;
  for (int64_t number = 1;; ++number) {
    const Result<LineReader::Outcome> outcome = reader.Next(text);
    if (outcome.status().code() == StatusCode::kIo) return outcome.status();
    if (outcome.ok() && *outcome == LineReader::Outcome::kEnd) return Status();
    Result<std::variant<std::string, int64_t>> by = Corrupt("too long");
    if (outcome.ok()) by = AnsweredBy(text);
    if (!by.ok()) {
      return Corrupt("{}: line {} is no result of adit batch; --overwrite starts anew", OneLine(path_), number);
    }
    if (auto* id = std::get_if<std::string>(&*by)) {
      answered_.custom_ids.insert(std::move(*id));
    } else {
      answered_.lines.insert(std::get<int64_t>(*by));
    }
  }
}

Status BatchOutput::Begin() {
  if (!overwrite_) return Status();
  return ::ftruncate(fd_.get(), 0) == 0 ? Status() : SystemError(path_, "write");
}

Status BatchOutput::Write(std::string_view line) { return Output(fd_.get(), path_.c_str()).Write(line); }

}  // namespace adit::cli
