#ifndef ADIT_CLI_OUTPUT_H_
#define ADIT_CLI_OUTPUT_H_

#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::cli {

// A descriptor that text is written to, at once and in order: nothing is buffered. One thread at a time.
class Output {
 public:
  // `name` is for messages and outlives the object. Does not own the descriptor.
  Output(int fd, const char* name);

  int fd() const { return fd_; }
  bool is_terminal() const { return is_terminal_; }

  // Writes all of `bytes` as they are. Io when the system refuses. Where the reader has gone, the program ends as
  // SIGPIPE ends it: quietly, with 128 + 13 as a shell sees it.
  Status Write(std::string_view bytes);

  // Text from a model or a file: as it is into a file or pipe, with control characters made visible on a terminal.
  // Holds whole UTF-8 characters.
  Status WriteText(std::string_view text);

 private:
  int fd_;
  const char* name_;
  bool is_terminal_;
};

Output& Stdout();
Output& Stderr();

// Opens the standard descriptors that are closed, so that no file of ours takes their place and gets what is meant for
// them. Using them still fails. Called first in main.
void OccupyStandardDescriptors();

}  // namespace adit::cli

#endif  // ADIT_CLI_OUTPUT_H_
