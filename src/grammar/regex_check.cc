#include "grammar/regex_check.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace adit::grammar {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class RegexReader {
 public:
  RegexReader(std::string_view text, RegexUse use) : text_(text), use_(use) {}

  Status Read() {
    if (text_.size() > kMaxRegexBytes) {
      return InvalidArgument("regex: {} bytes; it has at most {}", text_.size(), kMaxRegexBytes);
    }
    if (!IsValidUtf8(text_)) return InvalidArgument("regex: it is not UTF-8");
    while (at_ < text_.size()) ADIT_RETURN_IF_ERROR(ReadOne());
    if (!groups_.empty()) return InvalidArgument("regex: byte {}: '(' without ')'", groups_.back().at);
    return Status();
  }

 private:
  struct Group {
    size_t at = 0;
    int64_t copies = 1;  // that repetitions inside ask for
  };

  Status ReadOne() {
    const char c = text_[at_];
    switch (c) {
      case '^':
      case '$':
        return ReadAnchor(c);
      case '(':
        return Open();
      case ')':
        return Close();
      case '[':
        return ReadClass();
      case '\\':
        atom_copies_ = 1;
        has_atom_ = true;
        return ReadEscape(/*in_class=*/false);
      case '*':
      case '+':
      case '?':
        if (!has_atom_) return NothingToRepeat(c);
        ++at_;
        return EndRepeat();
      case '{':
        return ReadCount();
      case '|':
        has_atom_ = false;
        ++at_;
        return Status();
      case ']':
      case '}':
        return InvalidArgument("regex: byte {}: '{}' without its beginning; write \\{}", at_, c, c);
      default:
        return ReadCharacter();
    }
  }

  Status ReadAnchor(char c) {
    const bool at_its_end = c == '^' ? at_ == 0 : at_ + 1 == text_.size();
    if (!at_its_end) {
      return Unsupported("regex: byte {}: '{}' anywhere but at the {}", at_, c, c == '^' ? "start" : "end");
    }
    ++at_;
    return Status();
  }

  Status Open() {
    if (groups_.size() >= static_cast<size_t>(kMaxRegexDepth)) {
      return InvalidArgument("regex: byte {}: groups lie deeper than {} levels", at_, kMaxRegexDepth);
    }
    groups_.push_back({.at = at_});
    has_atom_ = false;
    ++at_;
    if (at_ >= text_.size() || text_[at_] != '?') return Status();
    if (text_.substr(at_).starts_with("?:")) {
      at_ += 2;
      return Status();
    }
    return Unsupported("regex: byte {}: '(?' other than '(?:'", at_ - 1);
  }

  Status Close() {
    if (groups_.empty()) return InvalidArgument("regex: byte {}: ')' without '('", at_);
    atom_copies_ = groups_.back().copies;
    groups_.pop_back();
    has_atom_ = true;
    ++at_;
    Note(atom_copies_);
    return Status();
  }

  // The repetitions of the group that is open ask for at least so many copies.
  void Note(int64_t copies) {
    if (!groups_.empty()) groups_.back().copies = std::max(groups_.back().copies, copies);
  }

  Status ReadClass() {
    const size_t begin = at_++;
    const bool negated = at_ < text_.size() && text_[at_] == '^';
    if (negated) ++at_;
    in_negated_class_ = negated;
    size_t count = 0;
    while (at_ < text_.size() && text_[at_] != ']') {
      if (text_[at_] == '[' && text_.substr(at_).starts_with("[:")) {
        return Unsupported("regex: byte {}: named classes such as [:alpha:]", at_);
      }
      if (text_[at_] == '\\') {
        ADIT_RETURN_IF_ERROR(ReadEscape(/*in_class=*/true));
      } else {
        ADIT_RETURN_IF_ERROR(CheckInString(static_cast<unsigned char>(text_[at_]), at_));
        ++at_;
      }
      ++count;
    }
    in_negated_class_ = false;
    if (at_ >= text_.size()) return InvalidArgument("regex: byte {}: '[' without ']'", begin);
    if (count == 0) return InvalidArgument("regex: byte {}: a class of nothing", begin);
    ++at_;
    return EndAtom();
  }

  // Of a character that would be matched.
  Status CheckInString(uint32_t character, size_t at) const {
    if (use_ == RegexUse::kText || in_negated_class_) return Status();
    if (character >= 0x20 && character != '"' && character != '\\') return Status();
    return Unsupported("regex: byte {}: a character that JSON writes with a backslash", at);
  }

  Status EndAtom() {
    atom_copies_ = 1;
    has_atom_ = true;
    return Status();
  }

  Status ReadCharacter() {
    ADIT_RETURN_IF_ERROR(CheckInString(static_cast<unsigned char>(text_[at_]), at_));
    ++at_;
    while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U) ++at_;
    return EndAtom();
  }

  Status ReadEscape(bool in_class) {
    const size_t begin = at_;
    if (at_ + 1 >= text_.size()) return InvalidArgument("regex: byte {}: '\\' at the end", begin);
    const char c = text_[at_ + 1];
    at_ += 2;
    if (std::string_view("dDwWsS").find(c) != std::string_view::npos) return Status();
    if (std::string_view("nrtfv").find(c) != std::string_view::npos) return CheckInString('\n', begin);
    if (c == 'x' || c == 'u') return ReadHex(begin, c == 'x' ? 2 : 4);
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c);
    if (is_letter || static_cast<unsigned char>(c) >= 0x80) {
      return Unsupported("regex: byte {}: '\\{}'{}", begin, is_letter ? std::string(1, c) : std::string("?"),
                         in_class ? " in a class" : "");
    }
    return CheckInString(static_cast<unsigned char>(c), begin);
  }

  Status ReadHex(size_t begin, size_t num_digits) {
    uint32_t value = 0;
    for (size_t i = 0; i < num_digits; ++i, ++at_) {
      if (at_ >= text_.size() || !IsHex(text_[at_])) {
        return InvalidArgument("regex: byte {}: {} hexadecimal digits are wanted", begin, num_digits);
      }
      const char c = text_[at_];
      value = value * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return CheckInString(value, begin);
  }

  Status NothingToRepeat(char c) const {
    return InvalidArgument("regex: byte {}: nothing stands in front of '{}'", at_, c);
  }

  // {2}, {2,} or {2,5}
  Status ReadCount() {
    const size_t begin = at_;
    if (!has_atom_) return NothingToRepeat('{');
    ++at_;
    int64_t low = 0;
    int64_t high = -1;
    const auto number = [this](int64_t& out) {
      const size_t first = at_;
      out = 0;
      while (at_ < text_.size() && IsDigit(text_[at_])) {
        out = std::min<int64_t>(out * 10 + (text_[at_++] - '0'), INT32_MAX);
      }
      return at_ > first;
    };
    bool good = number(low);
    high = low;
    if (good && at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      if (!number(high)) high = -1;
    }
    good = good && at_ < text_.size() && text_[at_] == '}';
    if (!good) return InvalidArgument("regex: byte {}: a repetition is written {{2}}, {{2,}} or {{2,5}}", begin);
    ++at_;
    if (high >= 0 && high < low) return InvalidArgument("regex: byte {}: {} is more than {}", begin, low, high);
    atom_copies_ *= std::max<int64_t>(1, std::max(low, high));
    if (atom_copies_ > kMaxRegexCopies) {
      return InvalidArgument("regex: byte {}: repetitions ask for {} copies; there are at most {}", begin, atom_copies_,
                             kMaxRegexCopies);
    }
    return EndRepeat();
  }

  Status EndRepeat() {
    // Taking as little as possible describes the same texts.
    if (at_ < text_.size() && text_[at_] == '?') ++at_;
    Note(atom_copies_);
    has_atom_ = false;
    return Status();
  }

  const std::string_view text_;
  const RegexUse use_;
  size_t at_ = 0;
  std::vector<Group> groups_;
  bool has_atom_ = false;  // something that may be repeated stands in front
  int64_t atom_copies_ = 1;
  bool in_negated_class_ = false;
};

}  // namespace

Status CheckRegex(std::string_view regex, RegexUse use) { return RegexReader(regex, use).Read(); }

}  // namespace adit::grammar
