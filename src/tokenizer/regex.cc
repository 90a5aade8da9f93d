#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.h"

#include <pcre2.h>

#include <array>

#include "base/check.h"
#include "base/error.h"
#include "formats/quoted.h"

namespace adit::tokenizer {
namespace {

constexpr size_t kMaxPatternBytes = 16'384;
constexpr uint32_t kMaxNesting = 100;
// Steps of one search: far above what a tokenizer's pattern takes for a word, a fraction of a second at most.
constexpr uint32_t kMatchLimit = 20'000'000;
constexpr uint32_t kHeapLimitKib = 65'536;

struct FreeCompileContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};

PCRE2_SPTR Units(const char* text) { return reinterpret_cast<PCRE2_SPTR>(text); }

}  // namespace

void Regex::FreeCode::operator()(pcre2_code* code) const { pcre2_code_free(code); }
void Regex::FreeContext::operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
void Regex::Matcher::FreeMatch::operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }

Result<Regex> Regex::Compile(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return InvalidArgument("a pattern of {} bytes, wanted at most {}", pattern.size(), kMaxPatternBytes);
  }
  const std::unique_ptr<pcre2_compile_context, FreeCompileContext> options(pcre2_compile_context_create(nullptr));
  ADIT_CHECK(options != nullptr);
  pcre2_set_newline(options.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(options.get(), kMaxNesting);
  int error = 0;
  PCRE2_SIZE offset = 0;
  Regex regex;
  regex.code_.reset(pcre2_compile(Units(pattern.data()), pattern.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                                  options.get()));
  if (regex.code_ == nullptr) {
    std::array<char, 256> text{};
    pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR*>(text.data()), text.size());
    return InvalidArgument("pattern {}: {} at byte {}", formats::Quoted(pattern), text.data(), offset);
  }
  // Fails where the system forbids memory that is both writable and executable; the interpreter then does the work.
  pcre2_jit_compile(regex.code_.get(), PCRE2_JIT_COMPLETE);
  regex.context_.reset(pcre2_match_context_create(nullptr));
  ADIT_CHECK(regex.context_ != nullptr);
  pcre2_set_match_limit(regex.context_.get(), kMatchLimit);
  pcre2_set_depth_limit(regex.context_.get(), kMatchLimit);
  pcre2_set_heap_limit(regex.context_.get(), kHeapLimitKib);
  return regex;
}

Regex::Matcher::Matcher(const Regex& regex)
    : regex_(regex), match_(pcre2_match_data_create_from_pattern(regex.code_.get(), nullptr)) {
  ADIT_CHECK(match_ != nullptr);
}

bool Regex::Matcher::Find(std::string_view text, size_t from, Match& match) {
  const auto search = [&](uint32_t options) {
    return pcre2_match(regex_.code_.get(), Units(text.data()), text.size(), from, options, match_.get(),
                       regex_.context_.get());
  };
  int found = search(PCRE2_NO_UTF_CHECK);
  // Machine code has a stack of fixed size; the interpreter takes what it needs from the heap.
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = search(PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
  if (found < 0) return false;
  const PCRE2_SIZE* const offsets = pcre2_get_ovector_pointer(match_.get());
  match = {offsets[0], offsets[1]};
  return match.begin <= match.end;
}

}  // namespace adit::tokenizer
