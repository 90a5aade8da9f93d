#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex_oracle.h"

#include <pcre2.h>

#include "base/check.h"

namespace adit::tokenizer {

OracleRegex::OracleRegex(const std::string& pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error,
                        &offset, nullptr);
  ADIT_CHECK(code_ != nullptr);
  pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
  match_ = pcre2_match_data_create_from_pattern(code_, nullptr);
}

OracleRegex::~OracleRegex() {
  pcre2_match_data_free(match_);
  pcre2_code_free(code_);
}

std::pair<size_t, size_t> OracleRegex::Find(std::string_view text, size_t begin) const {
  const int found =
      pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), begin, 0, match_, nullptr);
  ADIT_CHECK(found > 0 || found == PCRE2_ERROR_NOMATCH);
  if (found < 0) return {text.size(), text.size()};
  const PCRE2_SIZE* const offsets = pcre2_get_ovector_pointer(match_);
  return {offsets[0], offsets[1]};
}

std::vector<size_t> SplitByRegexes(std::string_view text,
                                   const std::vector<std::unique_ptr<OracleRegex>>& expressions) {
  std::vector<size_t> ends;
  if (!text.empty()) ends.push_back(text.size());
  for (const auto& expression : expressions) {
    std::vector<size_t> finer;
    size_t part_begin = 0;
    for (const size_t part_end : ends) {
      const std::string_view part = text.substr(part_begin, part_end - part_begin);
      size_t word = 0;
      for (size_t pos = 0; pos < part.size();) {
        const auto [begin, end] = expression->Find(part, pos);
        if (begin > word) finer.push_back(part_begin + (word = begin));
        if (end > begin) finer.push_back(part_begin + (word = end));
        pos = end > begin ? end : end + 1;
        while (pos < part.size() && (static_cast<unsigned char>(part[pos]) & 0xC0) == 0x80) ++pos;
      }
      if (part.size() > word) finer.push_back(part_end);
      part_begin = part_end;
    }
    ends = finer;
  }
  return ends;
}

}  // namespace adit::tokenizer
