#ifndef ADIT_CLI_BATCH_FILES_H_
#define ADIT_CLI_BATCH_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "adit/status.h"
#include "cli/input.h"

namespace adit::cli {

// A descriptor that is closed in the end.
class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd();
  OwnedFd(OwnedFd&& other) noexcept;
  OwnedFd& operator=(OwnedFd&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Requests that have been answered: by their custom_id, or by the number of a line that has none.
struct AnsweredRequests {
  std::unordered_set<std::string> custom_ids;
  std::unordered_set<int64_t> lines;
  bool Has(int64_t line, const std::optional<std::string>& custom_id) const {
    return custom_id ? custom_ids.contains(*custom_id) : lines.contains(line);
  }
};

// The file with the requests, one a line, read line by line. Empty lines are passed over, but count.
class BatchInput {
 public:
  struct Line {
    int64_t number = 0;     // from 1
    bool too_long = false;  // then without its text
    std::string text;
  };
  static constexpr size_t kMaxLineBytes = size_t{32} << 20;

  // Io for what is no regular file that can be read.
  static Result<BatchInput> Open(const std::string& path);

  // Reads all of it: how many requests are not answered yet. Corrupt, with both lines, when two have one custom_id.
  // Reading begins anew afterwards.
  Result<int64_t> CountNew(const AnsweredRequests& answered);
  // The next line; false at the end. Io when the system refuses.
  Result<bool> Next(Line& line);

 private:
  BatchInput(std::string path, OwnedFd fd);
  Status Rewind();

  std::string path_;
  OwnedFd fd_;
  std::unique_ptr<LineReader> reader_;
  int64_t line_number_ = 0;
};

// The file with the results. Each is written at once and whole, so that a kill leaves whole lines and at most one that
// is torn. One program at a time has it open.
class BatchOutput {
 public:
  // Makes the file if there is none, reads what has been answered, and cuts a torn last line off. Corrupt when it holds
  // something else than results; with `overwrite` it is not read. Io when the system refuses or another has it open.
  static Result<BatchOutput> Open(const std::string& path, bool overwrite);

  const AnsweredRequests& answered() const { return answered_; }
  // Where it is to be written anew: lets go what there was.
  Status Begin();
  // `line` with its line end.
  Status Write(std::string_view line);

 private:
  BatchOutput(std::string path, OwnedFd fd, bool overwrite);
  Status CutTornLine();
  Status ReadAnswered();

  std::string path_;
  OwnedFd fd_;
  bool overwrite_;
  AnsweredRequests answered_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_FILES_H_
