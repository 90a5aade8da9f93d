#ifndef ADIT_TOKENIZER_REGEX_H_
#define ADIT_TOKENIZER_REGEX_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "adit/status.h"

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;
struct pcre2_real_match_context_8;

namespace adit::tokenizer {

// A regular expression over UTF-8, compiled by PCRE2 and, where the machine allows, to machine code. Immutable and
// thread-safe; each thread of matching has a Matcher of its own.
class Regex {
 public:
  // `pattern` as PCRE2 reads it, with Unicode properties. InvalidArgument with PCRE2's words and the place.
  static Result<Regex> Compile(const std::string& pattern);

  struct Match {
    size_t begin;
    size_t end;
  };

  // Looks for matches. Borrows the expression.
  class Matcher {
   public:
    explicit Matcher(const Regex& regex);

    // The first match in `text` from `from` on. False if there is none, and if the search would take more than a fixed
    // number of steps, which only a pattern that tries exponentially many ways can reach.
    // Preconditions: text is UTF-8, from is at the start of a character or the end.
    bool Find(std::string_view text, size_t from, Match& match);

   private:
    struct FreeMatch {
      void operator()(pcre2_real_match_data_8* match) const;
    };
    const Regex& regex_;
    std::unique_ptr<pcre2_real_match_data_8, FreeMatch> match_;
  };

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  struct FreeContext {
    void operator()(pcre2_real_match_context_8* context) const;
  };
  Regex() = default;

  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
  std::unique_ptr<pcre2_real_match_context_8, FreeContext> context_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_REGEX_H_
