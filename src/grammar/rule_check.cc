#include "grammar/rule_check.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/utf8.h"

namespace adit::grammar {
namespace {

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  Status Read() {
    if (text_.size() > kMaxRuleBytes) {
      return InvalidArgument("grammar: {} bytes; it has at most {}", text_.size(), kMaxRuleBytes);
    }
    if (!IsValidUtf8(text_)) return InvalidArgument("grammar: it is not UTF-8");
    if (text_.find('\0') != std::string_view::npos) return InvalidArgument("grammar: it holds a zero byte");
    while (at_ < text_.size()) ADIT_RETURN_IF_ERROR(ReadOne());
    if (!has_root_) return InvalidArgument("grammar: there is no rule 'root'");
    return Status();
  }

 private:
  Status ReadOne() {
    const char c = text_[at_];
    if (at_ == 0 || text_[at_ - 1] == '\n') NoteRoot();
    switch (c) {
      case '\n':
        ++line_;
        break;
      case '#':
        at_ = std::min(text_.find('\n', at_), text_.size());
        return Status();
      case '"':
      case '\'':
        return SkipTo(c);
      case '[':
        return SkipTo(']');
      case '(':
        if (++depth_ > kMaxRuleDepth) {
          return InvalidArgument("grammar: line {}: groups lie deeper than {} levels", line_, kMaxRuleDepth);
        }
        break;
      case ')':
        if (--depth_ < 0) return InvalidArgument("grammar: line {}: ')' without '('", line_);
        break;
      case '{':
        return ReadCount();
      default:
        break;
    }
    ++at_;
    return Status();
  }

  // A line that begins with `root ::=`, or with options behind the name.
  void NoteRoot() {
    size_t at = at_;
    const auto skip_space = [&] {
      while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t' || text_[at] == '\r')) ++at;
    };
    skip_space();
    if (!text_.substr(at).starts_with("root")) return;
    at += 4;
    skip_space();
    has_root_ = has_root_ || text_.substr(at).starts_with("::=") || text_.substr(at).starts_with("[");
  }

  Status SkipTo(char end) {
    const int64_t line = line_;
    for (++at_; at_ < text_.size() && text_[at_] != end; ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size()) return InvalidArgument("grammar: line {}: no '{}' follows", line, end);
    ++at_;
    return Status();
  }

  Status ReadCount() {
    int64_t low = -1;
    int64_t high = -1;
    for (int64_t* number : {&low, &high}) {
      ++at_;
      while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '0' && text_[at_] <= '9'))) {
        if (text_[at_] != ' ') {
          *number = std::min<int64_t>(std::max<int64_t>(*number, 0) * 10 + (text_[at_] - '0'), INT32_MAX);
        }
        ++at_;
      }
      if (at_ >= text_.size() || text_[at_] != ',') break;
    }
    if (high >= 0 && high < low) return InvalidArgument("grammar: line {}: {{{},{}}} is empty", line_, low, high);
    if (std::max(low, high) > kMaxRuleCopies) {
      return InvalidArgument("grammar: line {}: something is repeated {} times; at most {} are taken", line_,
                             std::max(low, high), kMaxRuleCopies);
    }
    return Status();
  }

  const std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
  int depth_ = 0;
  bool has_root_ = false;
};

}  // namespace

Status CheckRules(std::string_view rules) { return RuleReader(rules).Read(); }

}  // namespace adit::grammar
