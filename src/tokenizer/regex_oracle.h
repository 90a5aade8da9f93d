#ifndef ADIT_TOKENIZER_REGEX_ORACLE_H_
#define ADIT_TOKENIZER_REGEX_ORACLE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// PCRE2 as the judge of hand-written splitters. For tests only.
struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace adit::tokenizer {

class OracleRegex {
 public:
  // Unicode and UTF-8. A pattern that does not compile fails the test program.
  explicit OracleRegex(const std::string& pattern);
  ~OracleRegex();
  OracleRegex(const OracleRegex&) = delete;
  OracleRegex& operator=(const OracleRegex&) = delete;

  // The first match at or after `begin`: its offsets. Empty pair of size() if there is none.
  std::pair<size_t, size_t> Find(std::string_view text, size_t begin) const;
  bool FullMatch(std::string_view text) const { return Find(text, 0) == std::pair<size_t, size_t>(0, text.size()); }

 private:
  pcre2_real_code_8* code_;
  pcre2_real_match_data_8* match_;
};

// Cuts each part of `text` at the matches of the expressions, one after the other: every match becomes a part, and so
// does what lies between two. Returns the ends of the parts.
std::vector<size_t> SplitByRegexes(std::string_view text, const std::vector<std::unique_ptr<OracleRegex>>& expressions);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_REGEX_ORACLE_H_
