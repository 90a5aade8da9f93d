#ifndef ADIT_SERVER_MARK_SCANNER_H_
#define ADIT_SERVER_MARK_SCANNER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace adit::server {

inline bool IsJsonSpace(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

// Looks for a mark in a text that comes byte by byte, and for the white space in front of it. Holds back only what may
// still belong to them. The mark's first byte, which is no white space, does not occur in it again: so what has been
// matched and turns out to be something else holds no other start of the mark. Constant work for each byte.
class MarkScanner {
 public:
  MarkScanner(std::string_view mark, bool with_space) : mark_(mark), with_space_(with_space) {}

  // True when the mark is complete with `byte`. What is certain not to belong to it is appended to `text`.
  bool Feed(char byte, std::string& text) {
    if (byte == mark_[matched_]) return ++matched_ == mark_.size();
    if (matched_ > 0) text += Take();
    if (byte == mark_[0]) {
      matched_ = 1;
    } else if (with_space_ && IsJsonSpace(byte)) {
      space_ += byte;
    } else {
      text += Take();
      text += byte;
    }
    return false;
  }

  // What is held back, which is then no longer.
  std::string Take() {
    std::string held = std::move(space_);
    held += mark_.substr(0, matched_);
    space_.clear();
    matched_ = 0;
    return held;
  }

 private:
  const std::string_view mark_;
  const bool with_space_;
  std::string space_;
  size_t matched_ = 0;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_MARK_SCANNER_H_
