#ifndef ADIT_CLI_INPUT_H_
#define ADIT_CLI_INPUT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::cli {

// Most bytes that a text, a template or a context may have.
inline constexpr size_t kMaxInputBytes = size_t{1} << 30;

// Everything up to the end of `fd`; `name` is for messages. InvalidArgument beyond kMaxInputBytes, Io when the system
// refuses.
Result<std::string> ReadAll(int fd, std::string_view name);

// A whole file, or stdin for "-". InvalidArgument for a file that is not there or a folder: an argument is wrong.
Result<std::string> ReadFileOrStdin(const std::string& path);

// Whether `fd` has something to read, its end included, within the time. True at once for files.
bool HasInput(int fd, int timeout_ms);

// Reads lines as they come.
class LineReader {
 public:
  enum class Outcome { kLine, kEnd, kInterrupted };

  // max_line_bytes: a longer line is an error, and the rest of it is skipped.
  // `name` is for messages.
  explicit LineReader(int fd, size_t max_line_bytes = size_t{64} << 20, std::string name = "stdin");

  // The next line into `line`, without its line feed or what precedes it as a carriage return; the last one need not
  // have either. kInterrupted: a signal is pending (signals.h); only with stop_on_signal, which needs an
  // InterruptScope. InvalidArgument for a line that is too long, Io when the system refuses.
  Result<Outcome> Next(std::string& line, bool stop_on_signal = false);

 private:
  // More bytes into buffer_; false at the end.
  Result<bool> Fill();

  int fd_;
  size_t max_line_bytes_;
  std::string name_;
  std::string buffer_;
  size_t begin_ = 0;    // of what has not been returned
  size_t scanned_ = 0;  // no line feed before
  bool at_end_ = false;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_INPUT_H_
