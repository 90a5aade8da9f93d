#ifndef ADIT_CLI_LINE_EDITOR_H_
#define ADIT_CLI_LINE_EDITOR_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "cli/edited_line.h"
#include "cli/output.h"

namespace adit::cli {

// Reads lines from a terminal with the keys that shells have: arrows, Home, End, Ctrl-A, E, B, F, K, U, W, L, D, P, N,
// Alt-B and F, and a history. A line longer than the terminal is wide moves sideways. On a terminal that cannot move
// its cursor (TERM=dumb), and on what is no terminal, keys are text.
class LineEditor {
 public:
  enum class Outcome { kLine, kEnd, kInterrupted };

  // Most bytes of a line; what is typed beyond is left out.
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;

  // Does not own the descriptor; `screen` outlives the object.
  LineEditor(int fd, Output& screen) : fd_(fd), screen_(screen) {}

  // Shows the prompt and reads a line into `line`: without its end, well-formed UTF-8. kEnd: Ctrl-D on an empty line,
  // or the end of input. kInterrupted: a signal is pending (signals.h); needs an InterruptScope. The terminal is as it
  // was when it returns. Io when the system refuses.
  Result<Outcome> Read(std::string_view prompt, std::string& line);

  // Puts a line into the history.
  void Remember(std::string_view line) { history_.Add(line); }

 private:
  enum class Key { kMore, kLine, kEnd };

  Result<Outcome> ReadKeys();
  Result<Key> TakeKey();
  void ControlKey(unsigned char byte);
  void EscapeSequence();
  bool TakeEscape(std::string_view& sequence);
  Status TakeText();
  Status Show();
  size_t Width() const;

  const int fd_;
  Output& screen_;
  LineHistory history_;

  // Of the line that is being read.
  std::string prompt_;
  EditedLine line_;
  std::string pending_;   // bytes read and not taken
  bool is_shown_ = true;  // the screen shows line_
  bool moves_cursor_ = true;
  bool starts_anew_ = false;  // the screen is to be cleared
};

}  // namespace adit::cli

#endif  // ADIT_CLI_LINE_EDITOR_H_
