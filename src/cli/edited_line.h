#ifndef ADIT_CLI_EDITED_LINE_H_
#define ADIT_CLI_EDITED_LINE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adit::cli {

// A line that is being typed: UTF-8 text and a cursor, which stands before a whole character or at the end.
class EditedLine {
 public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  bool at_end() const { return cursor_ == text_.size(); }

  // Replaces all; the cursor goes to the end.
  void Set(std::string text);
  // `text` is well-formed UTF-8.
  void Insert(std::string_view text);

  void Left();
  void Right();
  void Home() { cursor_ = 0; }
  void End() { cursor_ = text_.size(); }
  void WordLeft() { cursor_ = WordStart(); }
  void WordRight();

  void DeleteBack();
  void DeleteForward();
  void DeleteWordBack();
  void DeleteToStart();
  void DeleteToEnd() { text_.erase(cursor_); }

 private:
  size_t WordStart() const;

  std::string text_;
  size_t cursor_ = 0;
};

// Columns that a terminal gives to well-formed UTF-8 without control characters: two for wide East Asian characters and
// emoji, none for marks that stand on others.
size_t TerminalColumns(std::string_view text);

// Lines that were entered, newest last.
class LineHistory {
 public:
  static constexpr size_t kMaxLines = 1000;

  // Not a line that is empty or the same as the newest.
  void Add(std::string_view line);
  // A new line is being typed: Older() gives the newest.
  void Restart() { at_ = lines_.size(); }
  // The line before the one given last, or null; `typed` is kept when the first is asked for.
  const std::string* Older(const std::string& typed);
  // The line after it, in the end what was typed, or null.
  const std::string* Newer();

 private:
  std::vector<std::string> lines_;
  size_t at_ = 0;  // lines_.size(): what is being typed
  std::string typed_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_EDITED_LINE_H_
