#include "guard/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <string>
#include <utility>

#include "base/error.h"

namespace adit::guard {
namespace {

constexpr size_t kMaxExpressionBytes = size_t{64} << 10;
// For each start of a match. A match is at most some kilobytes long: what needs more goes back and forth.
constexpr uint32_t kMatchLimit = 50'000;
constexpr uint32_t kDepthLimit = 20'000;
constexpr uint32_t kHeapLimitKib = 16 << 10;
constexpr uint32_t kMaxNesting = 100;

std::string MessageOf(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  (void)pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// What makes a match depend on where the search began, or on more than the text. Null: nothing.
const char* Unfit(std::string_view expression) {
  bool in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\') {
      const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
      if (next == 'Q') {
        const size_t end = expression.find("\\E", i);
        if (end == std::string_view::npos) return nullptr;
        i = end + 1;
        continue;
      }
      if (next == 'G' && !in_class) return "\\G";
      if (next == 'C' && !in_class) return "\\C";
      ++i;
      continue;
    }
    if (in_class) {
      in_class = c != ']';
      continue;
    }
    if (c == '[') {
      in_class = true;
      // A bracket that comes first is one of the class.
      if (i + 1 < expression.size() && expression[i + 1] == '^') ++i;
      if (i + 1 < expression.size() && expression[i + 1] == ']') ++i;
      continue;
    }
    if (c == '(' && expression.substr(i).starts_with("(*")) return "a verb, (*...)";
    if (c == '(' && expression.substr(i).starts_with("(?C")) return "a call-out, (?C...)";
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Pattern>> Pattern::Compile(std::string_view expression, bool ignore_case) {
  if (expression.empty()) return InvalidArgument("the expression is empty");
  if (expression.size() > kMaxExpressionBytes) {
    return InvalidArgument("the expression has {} bytes; it has at most {}", expression.size(), kMaxExpressionBytes);
  }
  if (const char* what = Unfit(expression); what != nullptr) {
    return InvalidArgument("the expression holds {}, which rules cannot have", what);
  }
  pcre2_compile_context* const context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context, kMaxNesting);
  int code = 0;
  PCRE2_SIZE offset = 0;
  const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_DOTSTAR_ANCHOR |
                           (ignore_case ? PCRE2_CASELESS : uint32_t{0});
  pcre2_code* const compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                             options, &code, &offset, context);
  pcre2_compile_context_free(context);
  if (compiled == nullptr) return InvalidArgument("the expression is wrong at byte {}: {}", offset, MessageOf(code));
  std::shared_ptr<Pattern> pattern(new Pattern());
  pattern->code_ = compiled;
  pcre2_match_context* const limits = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(limits, kMatchLimit);
  pcre2_set_depth_limit(limits, kDepthLimit);
  pcre2_set_heap_limit(limits, kHeapLimitKib);
  pattern->context_ = limits;
  uint32_t lookbehind = 0;
  (void)pcre2_pattern_info(compiled, PCRE2_INFO_MAXLOOKBEHIND, &lookbehind);
  pattern->lookbehind_chars_ = lookbehind;
  return std::shared_ptr<const Pattern>(std::move(pattern));
}

Pattern::~Pattern() {
  pcre2_code_free(static_cast<pcre2_code*>(code_));
  pcre2_match_context_free(static_cast<pcre2_match_context*>(context_));
}

Pattern::Scratch::Scratch(const Pattern&) : data_(pcre2_match_data_create(1, nullptr)) {}
Pattern::Scratch::~Scratch() { pcre2_match_data_free(static_cast<pcre2_match_data*>(data_)); }
Pattern::Scratch::Scratch(Scratch&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}

// Interpreted, not compiled to machine code: that counts its work otherwise, and what is found would depend on it.
Pattern::Found Pattern::Search(std::string_view text, size_t at, End end, bool here, Scratch& scratch) const {
  auto* const data = static_cast<pcre2_match_data*>(scratch.data_);
  uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
  if (end == End::kOpen) options |= PCRE2_PARTIAL_HARD;
  if (end == End::kCut) options |= PCRE2_NOTEOL;
  if (here) options |= PCRE2_ANCHORED;
  const int code = pcre2_match(static_cast<const pcre2_code*>(code_), reinterpret_cast<PCRE2_SPTR>(text.data()),
                               text.size(), at, options, data, static_cast<pcre2_match_context*>(context_));
  if (code == PCRE2_ERROR_NOMATCH) return {};
  if (code < 0 && code != PCRE2_ERROR_PARTIAL) return {.outcome = Outcome::kGaveUp};
  const PCRE2_SIZE* const places = pcre2_get_ovector_pointer(data);
  return {.outcome = code == PCRE2_ERROR_PARTIAL ? Outcome::kPartial : Outcome::kFound,
          .begin = places[0],
          .end = places[1]};
}

}  // namespace adit::guard
