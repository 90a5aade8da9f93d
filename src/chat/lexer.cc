#include "chat/lexer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/lexer_internal.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

// Longer operators first, so that the first match is the longest.
constexpr std::array<std::string_view, 26> kOperators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                         "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                         ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};

// With \n for every line end, and without the one at the very end.
std::string NormalizeLines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string text) : text_(std::move(text)) {}

  Result<std::vector<Token>> Run();

 private:
  // The text up to the next tag, and the tag's opening. False at the end of the template.
  bool LexData();
  Status LexComment();
  Status LexRaw();
  Status LexCode(TokenType end_type, std::string_view end_tag);
  Status LexCodeToken();
  Status LexOperator();
  Status LexString();
  void LexName();

  bool TryRawBegin();
  bool TryCodeEnd(TokenType end_type, std::string_view end_tag);
  // Handles the sign and the line end after a closing tag at `pos`, which `tag_size` bytes close.
  void FinishTag(size_t pos, size_t tag_size);
  void SkipSpaces();
  void AddData(std::string_view data, char sign, bool is_variable);
  void Advance(size_t end);
  void Add(TokenType type, int line, std::string text) { tokens_.push_back({type, line, std::move(text)}); }
  std::string_view rest() const { return std::string_view(text_).substr(pos_); }
  char At(size_t pos) const { return pos < text_.size() ? text_[pos] : '\0'; }

  const std::string text_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // what comes before pos_ ends with a line end, or is nothing
  std::vector<Token> tokens_;
  std::string open_brackets_;
};

void Lexer::Advance(size_t end) {
  line_ += static_cast<int>(
      std::count(text_.begin() + static_cast<ptrdiff_t>(pos_), text_.begin() + static_cast<ptrdiff_t>(end), '\n'));
  if (end > pos_) line_starting_ = text_[end - 1] == '\n';
  pos_ = end;
}

void Lexer::SkipSpaces() {
  size_t end = pos_;
  while (end < text_.size()) {
    const Utf8Char next = DecodeUtf8(std::string_view(text_).substr(end));
    if (!IsSpace(next.code_point)) break;
    end += next.length;
  }
  Advance(end);
}

void Lexer::AddData(std::string_view data, char sign, bool is_variable) {
  const size_t line_begin = data.rfind('\n') + 1;  // 0 if there is none
  if (sign == '-') {
    data = data.substr(0, StrippedEnd(data));
  } else if (sign != '+' && !is_variable && (line_begin > 0 || line_starting_)) {
    if (StrippedEnd(data.substr(line_begin)) == 0) data = data.substr(0, line_begin);
  }
  if (!data.empty()) Add(TokenType::kData, line_, std::string(data));
}

bool Lexer::LexData() {
  size_t tag = pos_;
  do {
    tag = text_.find('{', tag);
    if (tag == std::string::npos) break;
    const char kind = At(tag + 1);
    if (kind == '{' || kind == '%' || kind == '#') break;
    ++tag;
  } while (true);
  if (tag == std::string::npos) {
    AddData(rest(), '+', true);
    Advance(text_.size());
    return false;
  }
  const char kind = text_[tag + 1];
  const char sign = At(tag + 2) == '-' || At(tag + 2) == '+' ? text_[tag + 2] : '\0';
  AddData(std::string_view(text_).substr(pos_, tag - pos_), sign, kind == '{');
  Advance(tag + (sign == '\0' ? 2 : 3));
  return true;
}

void Lexer::FinishTag(size_t pos, size_t tag_size) {
  const char sign = pos_ < pos ? text_[pos - 1] : '\0';
  Advance(pos + tag_size);
  if (sign == '-') {
    SkipSpaces();
  } else if (sign != '+' && At(pos_) == '\n') {
    Advance(pos_ + 1);
  }
}

Status Lexer::LexComment() {
  const size_t end = text_.find("#}", pos_);
  if (end == std::string::npos) return SyntaxError(line_, "a comment {# without its end #}");
  FinishTag(end, 2);
  return Status();
}

// The opening tag of a raw block closes with %} or -%} and, unlike others, keeps the line end after it.
bool Lexer::TryRawBegin() {
  std::string_view text = rest();
  const auto skip_spaces = [&text] { text.remove_prefix(StrippedBegin(text)); };
  skip_spaces();
  if (!text.starts_with("raw")) return false;
  text.remove_prefix(3);
  skip_spaces();
  const bool strips = text.starts_with("-%}");
  if (!strips && !text.starts_with("%}")) return false;
  Advance(text_.size() - text.size() + (strips ? 3 : 2));
  if (strips) SkipSpaces();
  return true;
}

Status Lexer::LexRaw() {
  const int line = line_;
  size_t tag = pos_;
  while ((tag = text_.find("{%", tag)) != std::string::npos) {
    const char sign = At(tag + 2) == '-' || At(tag + 2) == '+' ? text_[tag + 2] : '\0';
    std::string_view text = std::string_view(text_).substr(tag + (sign == '\0' ? 2 : 3));
    const auto skip_spaces = [&text] { text.remove_prefix(StrippedBegin(text)); };
    skip_spaces();
    if (text.starts_with("endraw")) {
      text.remove_prefix(6);
      skip_spaces();
      if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
      if (text.starts_with("%}")) {
        AddData(std::string_view(text_).substr(pos_, tag - pos_), sign, false);
        Advance(tag + 2);
        FinishTag(text_.size() - text.size(), 2);
        return Status();
      }
    }
    ++tag;
  }
  return SyntaxError(line, "a raw block without its end {% endraw %}");
}

// Closing tags count only outside of brackets, so that {{ {'a': {}}  }} ends where it should.
bool Lexer::TryCodeEnd(TokenType end_type, std::string_view end_tag) {
  if (!open_brackets_.empty()) return false;
  const char first = At(pos_);
  const bool has_sign = first == '-' || (first == '+' && end_type == TokenType::kBlockEnd);
  const size_t tag = pos_ + (has_sign ? 1 : 0);
  if (!std::string_view(text_).substr(std::min(tag, text_.size())).starts_with(end_tag)) return false;
  Add(end_type, line_, std::string(end_tag));
  if (end_type == TokenType::kBlockEnd) {
    FinishTag(tag, end_tag.size());
  } else {
    Advance(tag + end_tag.size());
    if (has_sign) SkipSpaces();
  }
  return true;
}

Status Lexer::LexCode(TokenType end_type, std::string_view end_tag) {
  open_brackets_.clear();
  while (pos_ < text_.size()) {
    if (TryCodeEnd(end_type, end_tag)) return Status();
    const size_t before = pos_;
    SkipSpaces();
    if (pos_ != before) continue;
    ADIT_RETURN_IF_ERROR(LexCodeToken());
  }
  return Status();  // the parser reports what is missing
}

Status Lexer::LexCodeToken() {
  const char first = text_[pos_];
  if (first >= '0' && first <= '9') {
    const bool after_dot = pos_ > 0 && text_[pos_ - 1] == '.';
    Token token{.type = TokenType::kInteger, .line = line_, .text = ""};
    size_t size = 0;
    ADIT_RETURN_IF_ERROR(ScanNumber(rest(), after_dot, &token, &size));
    tokens_.push_back(std::move(token));
    Advance(pos_ + size);
    return Status();
  }
  const Utf8Char next = DecodeUtf8(rest());
  if (IsIdentifierPart(next.code_point)) {
    if (!IsIdentifierStart(next.code_point)) return SyntaxError(line_, "a name begins with an unexpected character");
    LexName();
    return Status();
  }
  if (first == '\'' || first == '"') return LexString();
  return LexOperator();
}

void Lexer::LexName() {
  size_t end = pos_;
  while (end < text_.size()) {
    const Utf8Char next = DecodeUtf8(std::string_view(text_).substr(end));
    if (!IsIdentifierPart(next.code_point)) break;
    end += next.length;
  }
  Add(TokenType::kName, line_, text_.substr(pos_, end - pos_));
  Advance(end);
}

Status Lexer::LexString() {
  const char quote = text_[pos_];
  size_t end = pos_ + 1;
  while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) return SyntaxError(line_, "a string without its closing quote");
  Token token{.type = TokenType::kString, .line = line_, .text = ""};
  const std::string_view quoted = std::string_view(text_).substr(pos_ + 1, end - pos_ - 1);
  ADIT_RETURN_IF_ERROR(Unescape(quoted, line_, &token.text));
  tokens_.push_back(std::move(token));
  Advance(end + 1);
  return Status();
}

Status Lexer::LexOperator() {
  const auto* op = std::ranges::find_if(kOperators, [this](std::string_view o) { return rest().starts_with(o); });
  if (op == kOperators.end()) {
    const Utf8Char next = DecodeUtf8(rest());
    return SyntaxError(line_, fmt::format("unexpected character '{}'", rest().substr(0, next.length)));
  }
  const char bracket = op->front();
  if (bracket == '(' || bracket == '[' || bracket == '{') {
    open_brackets_ += bracket == '(' ? ')' : bracket == '[' ? ']' : '}';
  } else if (bracket == ')' || bracket == ']' || bracket == '}') {
    if (open_brackets_.empty()) return SyntaxError(line_, fmt::format("unexpected '{}'", bracket));
    if (open_brackets_.back() != bracket) {
      return SyntaxError(line_, fmt::format("unexpected '{}', expected '{}'", bracket, open_brackets_.back()));
    }
    open_brackets_.pop_back();
  }
  Add(TokenType::kOperator, line_, std::string(*op));
  Advance(pos_ + op->size());
  return Status();
}

Result<std::vector<Token>> Lexer::Run() {
  while (LexData()) {
    const size_t tag = text_[pos_ - 1] == '-' || text_[pos_ - 1] == '+' ? pos_ - 2 : pos_ - 1;
    const char kind = text_[tag];
    if (kind == '#') {
      ADIT_RETURN_IF_ERROR(LexComment());
    } else if (kind == '{') {
      Add(TokenType::kVariableBegin, line_, "{{");
      ADIT_RETURN_IF_ERROR(LexCode(TokenType::kVariableEnd, "}}"));
    } else if (TryRawBegin()) {
      ADIT_RETURN_IF_ERROR(LexRaw());
    } else {
      Add(TokenType::kBlockBegin, line_, "{%");
      ADIT_RETURN_IF_ERROR(LexCode(TokenType::kBlockEnd, "%}"));
    }
  }
  Add(TokenType::kEnd, line_, "");
  return std::move(tokens_);
}

}  // namespace

std::string DescribeToken(const Token& token) {
  switch (token.type) {
    case TokenType::kEnd:
      return "the end of the template";
    case TokenType::kData:
      return "text";
    case TokenType::kString:
      return "a string";
    case TokenType::kInteger:
    case TokenType::kFloat:
      return "a number";
    default:
      return fmt::format("'{}'", token.text);
  }
}

Status SyntaxError(int line, std::string_view cause) {
  return InvalidArgument("chat template: line {}: {}", line, cause);
}

Result<std::vector<Token>> Tokenize(std::string_view source) { return Lexer(NormalizeLines(source)).Run(); }

}  // namespace adit::chat
