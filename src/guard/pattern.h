#ifndef ADIT_GUARD_PATTERN_H_
#define ADIT_GUARD_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "adit/status.h"

namespace adit::guard {

// A regular expression (PCRE2, Unicode, with a limit on the work for each start of a match). Immutable; any thread.
class Pattern {
 public:
  // InvalidArgument, with the place in the expression, for one that is wrong or whose matches depend on more than the
  // text: \G, \C, verbs such as (*SKIP), call-outs.
  static Result<std::shared_ptr<const Pattern>> Compile(std::string_view expression, bool ignore_case);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Memory of searches, one at a time.
  class Scratch {
   public:
    explicit Scratch(const Pattern& pattern);
    ~Scratch();
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&&) = delete;

   private:
    friend class Pattern;
    void* data_;
  };

  enum class Outcome : uint8_t {
    kNone,     // nothing, and more text would not change that
    kFound,    // [begin, end)
    kPartial,  // what more text brings decides about a match that starts at `begin`
    kGaveUp,   // too much work
  };
  struct Found {
    Outcome outcome = Outcome::kNone;
    size_t begin = 0;
    size_t end = 0;
  };
  // How the end of `text` is taken.
  enum class End : uint8_t {
    kOpen,    // more may come
    kClosed,  // it is the end
    kCut,     // more comes, and is not to be looked at: no end of a line or a text
  };
  // The first match that is not empty and starts at `at` or behind it; with `here` only one that starts at `at`.
  // Precondition: `text` is UTF-8 and `at` the start of a character or the end.
  Found Search(std::string_view text, size_t at, End end, bool here, Scratch& scratch) const;

  // How many characters before a start a search looks at, at most.
  size_t lookbehind_chars() const { return lookbehind_chars_; }

 private:
  Pattern() = default;

  void* code_ = nullptr;
  void* context_ = nullptr;
  size_t lookbehind_chars_ = 0;
};

}  // namespace adit::guard

#endif  // ADIT_GUARD_PATTERN_H_
