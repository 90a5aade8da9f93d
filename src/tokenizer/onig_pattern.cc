#include "tokenizer/onig_pattern.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::tokenizer {
namespace {

constexpr std::string_view kSpaces =
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
constexpr std::string_view kWords = "\\p{L}\\p{M}\\p{Nd}\\p{Pc}";
constexpr std::string_view kHexDigits = "0-9a-fA-F";

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern), pattern_(pattern) {}

  Result<std::string> Translate() {
    while (!rest_.empty()) ADIT_RETURN_IF_ERROR(Step());
    return out_;
  }

 private:
  Status Refuse(std::string_view what) const {
    return Unsupported("pattern {}: {} at byte {}", formats::Quoted(pattern_), what, pattern_.size() - rest_.size());
  }

  // Copies `length` bytes as they are.
  void Copy(size_t length) {
    out_.append(rest_.substr(0, length));
    rest_.remove_prefix(std::min(length, rest_.size()));
  }
  void Replace(size_t length, std::string_view with) {
    out_.append(with);
    rest_.remove_prefix(std::min(length, rest_.size()));
  }
  // Bytes of the character at the front.
  size_t CharBytes() const {
    size_t length = 1;
    while (length < rest_.size() && (static_cast<unsigned char>(rest_[length]) & 0xC0) == 0x80) ++length;
    return length;
  }

  Status Step() {
    const char c = rest_[0];
    if (c == '(') return OpenGroup();
    if (c == ')') {
      atom_ = groups_.empty() ? out_.size() : groups_.back();
      if (!groups_.empty()) groups_.pop_back();
      Copy(1);
      return Status();
    }
    if (c == '{') return Interval();
    if (c == '*' || c == '+' || c == '?' || c == '|') {
      Copy(1);
      return Status();
    }
    atom_ = out_.size();
    if (c == '[') return Set();
    if (c == '\\') return Escape();
    Copy(CharBytes());
    return Status();
  }

  Status OpenGroup() {
    groups_.push_back(out_.size());
    if (!rest_.starts_with("(?")) {
      Copy(1);
      return Status();
    }
    Copy(2);
    while (!rest_.empty() && (rest_[0] == 'i' || rest_[0] == 'm' || rest_[0] == 'x' || rest_[0] == '-')) {
      if (rest_[0] == 'm') {
        Replace(1, "s");
      } else {
        Copy(1);
      }
    }
    return Status();
  }

  // {n,m}: a plus sign behind it repeats the whole.
  Status Interval() {
    const size_t close = rest_.find('}');
    const bool counts = close != std::string_view::npos && close > 1 &&
                        rest_.substr(1, close - 1).find_first_not_of("0123456789,") == std::string_view::npos;
    if (!counts) {
      atom_ = out_.size();
      Replace(1, "\\{");
      return Status();
    }
    Copy(close + 1);
    if (rest_.starts_with('+')) {
      out_.insert(atom_, "(?:");
      out_.append(")");
    }
    return Status();
  }

  // What an escape stands for in a set; nothing for one that both dialects share.
  static std::optional<std::string_view> SetOf(char c) {
    if (c == 's') return kSpaces;
    if (c == 'w') return kWords;
    if (c == 'h') return kHexDigits;
    return std::nullopt;
  }

  // \uHHHH as \x{HHHH}.
  bool CodePoint() {
    constexpr size_t kDigits = 4;
    if (!rest_.starts_with("\\u") || rest_.size() < 2 + kDigits) return false;
    const std::string_view digits = rest_.substr(2, kDigits);
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return false;
    Replace(2 + kDigits, "\\x{" + std::string(digits) + "}");
    return true;
  }

  Status Escape() {
    if (rest_.size() < 2) return Refuse("a backslash at the end");
    if (CodePoint()) return Status();
    const char c = rest_[1];
    const std::string word = std::string("[").append(kWords).append("]");
    if (const auto set = SetOf(c)) {
      Replace(2, std::string("[").append(*set).append("]"));
    } else if (c == 'S' || c == 'W' || c == 'H') {
      Replace(2, std::string("[^").append(*SetOf(static_cast<char>(c - 'A' + 'a'))).append("]"));
    } else if (c == 'b') {
      Replace(2, "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))");
    } else if (c == 'B') {
      Replace(2, "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))");
    } else {
      PropertyOrEscaped(c);
    }
    return Status();
  }

  // What means the same within a set and without: a property, or a character as it is.
  void PropertyOrEscaped(char c) {
    if (c == 'p' || c == 'P') return Property();
    rest_.remove_prefix(1);
    out_ += '\\';
    Copy(CharBytes());
  }

  // \p{...}, whose braces are no interval.
  void Property() {
    const size_t close = rest_.starts_with("\\p{") || rest_.starts_with("\\P{") ? rest_.find('}') : 1;
    Copy(close == std::string_view::npos ? rest_.size() : close + 1);
  }

  Status Set() {
    Copy(rest_.starts_with("[^") ? 2 : 1);
    // A bracket that closes at once is a literal in both dialects.
    if (rest_.starts_with(']')) Replace(1, "\\]");
    for (int depth = 1; depth > 0;) {
      if (rest_.empty()) return Refuse("a set without end");
      ADIT_RETURN_IF_ERROR(SetMember(depth));
    }
    return Status();
  }

  Status SetMember(int& depth) {
    constexpr int kMaxSetDepth = 8;
    if (rest_.starts_with("&&")) return Refuse("an intersection of sets");
    if (rest_.starts_with("[:")) {
      const size_t close = rest_.find(":]");
      if (close == std::string_view::npos) return Refuse("a named set without end");
      Copy(close + 2);
    } else if (rest_.starts_with("[^")) {
      return Refuse("a negated set within a set");
    } else if (rest_[0] == '[') {
      if (++depth > kMaxSetDepth) return Refuse("sets nested too deep");
      rest_.remove_prefix(1);
    } else if (rest_[0] == ']') {
      if (--depth == 0) out_ += ']';
      rest_.remove_prefix(1);
    } else if (rest_[0] == '\\') {
      return SetEscape();
    } else {
      Copy(CharBytes());
    }
    return Status();
  }

  Status SetEscape() {
    if (rest_.size() < 2) return Refuse("a backslash at the end");
    if (CodePoint()) return Status();
    const char c = rest_[1];
    if (c == 'S' || c == 'W' || c == 'H') return Refuse("a negated class within a set");
    if (const auto set = SetOf(c)) {
      Replace(2, *set);
    } else {
      PropertyOrEscaped(c);
    }
    return Status();
  }

  std::string_view rest_;
  const std::string_view pattern_;
  std::string out_;
  size_t atom_ = 0;             // where in out_ the last atom begins
  std::vector<size_t> groups_;  // where open groups begin
};

}  // namespace

Result<std::string> TranslateOnigPattern(std::string_view pattern) { return Translator(pattern).Translate(); }

std::string QuotePattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace adit::tokenizer
