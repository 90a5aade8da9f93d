#include "cli/line_editor.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/env.h"
#include "base/error.h"
#include "base/utf8.h"
#include "cli/signals.h"

namespace adit::cli {
namespace {

constexpr char kEscape = 27;
constexpr unsigned char kDelete = 127;

// While one lives, the terminal gives each key as it is pressed and shows none by itself.
class KeyMode {
 public:
  explicit KeyMode(int fd) : fd_(fd), is_terminal_(::tcgetattr(fd, &saved_) == 0) {
    if (!is_terminal_) return;
    struct termios keys = saved_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    ::tcsetattr(fd_, TCSADRAIN, &keys);
  }
  ~KeyMode() {
    if (is_terminal_) ::tcsetattr(fd_, TCSADRAIN, &saved_);
  }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

 private:
  const int fd_;
  struct termios saved_ = {};
  const bool is_terminal_;
};

constexpr char Ctrl(char letter) { return static_cast<char>(letter & 31); }

}  // namespace

Result<LineEditor::Outcome> LineEditor::Read(std::string_view prompt, std::string& line) {
  moves_cursor_ = !env::DumbTerminal();
  prompt_ = prompt;
  line_.Set("");
  history_.Restart();
  const KeyMode keys(fd_);
  ADIT_RETURN_IF_ERROR(screen_.Write(prompt_));
  is_shown_ = true;
  ADIT_ASSIGN_OR_RETURN(const Outcome outcome, ReadKeys());
  if (outcome == Outcome::kLine) {
    line = line_.text();
    ADIT_RETURN_IF_ERROR(screen_.Write("\n"));
  }
  return outcome;
}

Result<LineEditor::Outcome> LineEditor::ReadKeys() {
  while (true) {
    while (!pending_.empty()) {
      const size_t before = pending_.size();
      ADIT_ASSIGN_OR_RETURN(const Key key, TakeKey());
      if (key == Key::kLine) {
        ADIT_RETURN_IF_ERROR(Show());
        return Outcome::kLine;
      }
      if (key == Key::kEnd) return Outcome::kEnd;
      if (pending_.size() == before) break;  // the start of something
    }
    ADIT_RETURN_IF_ERROR(Show());
    struct pollfd descriptors[] = {{.fd = fd_, .events = POLLIN, .revents = 0},
                                   {.fd = InterruptDescriptor(), .events = POLLIN, .revents = 0}};
    (void)::poll(descriptors, 2, -1);
    if (PendingInterrupt() != 0) {
      pending_.clear();
      return Outcome::kInterrupted;
    }
    if (descriptors[0].revents == 0) continue;
    char bytes[4096];
    const ssize_t got = ::read(fd_, bytes, sizeof(bytes));
    if (got > 0) {
      pending_.append(bytes, static_cast<size_t>(got));
    } else if (got == 0 || errno == EIO) {  // EIO: the terminal has gone
      return Outcome::kEnd;
    } else if (errno != EINTR && errno != EAGAIN) {
      return Io("cannot read stdin: {}", std::strerror(errno));
    }
  }
}

Result<LineEditor::Key> LineEditor::TakeKey() {
  const char byte = pending_.front();
  if (byte == '\n' || byte == '\r') {
    pending_.erase(0, 1);
    return Key::kLine;
  }
  if (byte == Ctrl('D') && line_.text().empty()) return Key::kEnd;
  if (byte == kEscape && moves_cursor_) {
    EscapeSequence();
  } else if (static_cast<unsigned char>(byte) < ' ' || static_cast<unsigned char>(byte) == kDelete) {
    pending_.erase(0, 1);
    ControlKey(static_cast<unsigned char>(byte));
  } else {
    ADIT_RETURN_IF_ERROR(TakeText());
  }
  return Key::kMore;
}

void LineEditor::ControlKey(unsigned char byte) {
  is_shown_ = false;
  if (byte == kDelete || byte == Ctrl('H')) return line_.DeleteBack();
  if (!moves_cursor_) return;
  switch (byte) {
    case Ctrl('A'):
      return line_.Home();
    case Ctrl('B'):
      return line_.Left();
    case Ctrl('D'):
      return line_.DeleteForward();
    case Ctrl('E'):
      return line_.End();
    case Ctrl('F'):
      return line_.Right();
    case Ctrl('K'):
      return line_.DeleteToEnd();
    case Ctrl('L'):
      starts_anew_ = true;
      return;
    case Ctrl('N'):
      if (const std::string* newer = history_.Newer()) line_.Set(*newer);
      return;
    case Ctrl('P'):
      if (const std::string* older = history_.Older(line_.text())) line_.Set(*older);
      return;
    case Ctrl('U'):
      return line_.DeleteToStart();
    case Ctrl('W'):
      return line_.DeleteWordBack();
    default:
      return;
  }
}

// Takes "ESC [ ... letter", "ESC O letter" or "ESC letter" from what is pending, without the ESC. False when more is to
// come.
bool LineEditor::TakeEscape(std::string_view& sequence) {
  const auto is_control = [this](size_t at) { return static_cast<unsigned char>(pending_[at]) < ' '; };
  if (pending_.size() < 2) return false;
  size_t length = is_control(1) ? 1 : pending_[1] == 'O' ? 3 : 2;
  if (pending_[1] == '[') {
    while (length < pending_.size() && !is_control(length) && (pending_[length] < '@' || pending_[length] > '~'))
      ++length;
    if (length == pending_.size() || !is_control(length)) ++length;
  }
  if (length > pending_.size()) return false;
  sequence = std::string_view(pending_).substr(1, length - 1);
  return true;
}

void LineEditor::EscapeSequence() {
  std::string_view sequence;
  if (!TakeEscape(sequence)) return;
  is_shown_ = false;
  if (sequence == "[A" || sequence == "OA") {
    ControlKey(Ctrl('P'));
  } else if (sequence == "[B" || sequence == "OB") {
    ControlKey(Ctrl('N'));
  } else if (sequence == "b" || sequence == "[1;5D") {
    line_.WordLeft();
  } else if (sequence == "f" || sequence == "[1;5C") {
    line_.WordRight();
  } else if (sequence == "[C" || sequence == "OC") {
    line_.Right();
  } else if (sequence == "[D" || sequence == "OD") {
    line_.Left();
  } else if (sequence == "[H" || sequence == "OH" || sequence == "[1~" || sequence == "[7~") {
    line_.Home();
  } else if (sequence == "[F" || sequence == "OF" || sequence == "[4~" || sequence == "[8~") {
    line_.End();
  } else if (sequence == "[3~") {
    line_.DeleteForward();
  }
  pending_.erase(0, sequence.size() + 1);
}

// Characters up to the next control character. Where they go to the end of a line that fits, the terminal is told
// nothing but them.
Status LineEditor::TakeText() {
  size_t size = 0;
  while (size < pending_.size() && static_cast<unsigned char>(pending_[size]) >= ' ' &&
         static_cast<unsigned char>(pending_[size]) != kDelete) {
    ++size;
  }
  const bool is_all = size == pending_.size();
  const size_t incomplete = is_all ? IncompleteUtf8Suffix(pending_) : 0;
  const std::string text = ReplaceInvalidUtf8(std::string_view(pending_).substr(0, size - incomplete));
  pending_.erase(0, size - incomplete);
  if (line_.text().size() + text.size() > kMaxLineBytes) return Status();
  const bool appends = line_.at_end() && is_shown_;
  line_.Insert(text);
  const size_t columns = TerminalColumns(prompt_) + TerminalColumns(line_.text());
  if (!appends || (moves_cursor_ && columns >= Width())) {
    is_shown_ = false;
    return Status();
  }
  return screen_.Write(text);
}

size_t LineEditor::Width() const {
  struct winsize size = {};
  if (::ioctl(screen_.fd(), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return static_cast<size_t>(-1);
  return size.ws_col;
}

// Writes the line anew: the part of it around the cursor that fits.
Status LineEditor::Show() {
  if (is_shown_) return Status();
  is_shown_ = true;
  if (!moves_cursor_) return screen_.Write(fmt::format("\n{}{}", prompt_, line_.text()));
  const size_t width = Width();
  const size_t prompt_columns = TerminalColumns(prompt_);
  const size_t room = width > prompt_columns + 2 ? width - prompt_columns - 1 : 1;
  std::string_view before = std::string_view(line_.text()).substr(0, line_.cursor());
  std::string_view after = std::string_view(line_.text()).substr(line_.cursor());
  size_t columns = TerminalColumns(before);
  while (columns > room) {
    const size_t first = DecodeUtf8(before).length;
    columns -= TerminalColumns(before.substr(0, first));
    before.remove_prefix(first);
  }
  const size_t column = prompt_columns + columns;
  size_t shown = 0;
  while (shown < after.size()) {
    const std::string_view next = after.substr(shown, DecodeUtf8(after.substr(shown)).length);
    columns += TerminalColumns(next);
    if (columns > room) break;
    shown += next.size();
  }
  std::string frame = starts_anew_ ? "\x1b[H\x1b[2J" : "\r";
  starts_anew_ = false;
  frame += fmt::format("{}{}{}\x1b[K\r", prompt_, before, after.substr(0, shown));
  if (column > 0) frame += fmt::format("\x1b[{}C", column);
  return screen_.Write(frame);
}

}  // namespace adit::cli
