#ifndef ADIT_SERVER_MARK_SET_H_
#define ADIT_SERVER_MARK_SET_H_

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adit::server {

// Looks for one of several marks in a text that comes byte by byte, and holds back only what may still become one. Each
// mark begins with '<', which does not occur in it again, and none is the start of another.
class MarkSet {
 public:
  MarkSet(std::initializer_list<std::string_view> marks) : marks_(marks) {}

  // The mark that is complete with `byte`, as an index; else -1, and what is certain to belong to none is appended to
  // `text`.
  int Feed(char byte, std::string& text) {
    if (byte == '<') {
      text += held_;
      held_.assign(1, '<');
      return -1;
    }
    held_ += byte;
    bool may_be = false;
    for (size_t i = 0; i < marks_.size(); ++i) {
      if (!marks_[i].starts_with(held_)) continue;
      may_be = true;
      if (marks_[i].size() != held_.size()) continue;
      held_.clear();
      return static_cast<int>(i);
    }
    if (!may_be) text += std::exchange(held_, {});
    return -1;
  }

  // What is held back, which is then no longer.
  std::string Take() { return std::exchange(held_, {}); }

 private:
  const std::vector<std::string_view> marks_;
  std::string held_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_MARK_SET_H_
