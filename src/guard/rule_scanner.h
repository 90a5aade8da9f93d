#ifndef ADIT_GUARD_RULE_SCANNER_H_
#define ADIT_GUARD_RULE_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "guard/rules.h"

namespace adit::guard {

// The end of a text that is being scanned, as much of it as is still needed.
struct TextWindow {
  std::string_view text;  // UTF-8
  size_t base = 0;        // where in the whole text it begins

  size_t end() const { return base + text.size(); }
};

// A place of a text, in bytes from its start.
struct Match {
  size_t begin = 0;
  size_t end = 0;
  size_t rule = 0;  // index
  bool gave_up = false;
};

// Finds what one matcher looks for, in a text that grows. Matches do not overlap, and come in their order.
//
// What is found does not depend on how the text came. Whether a match starts at a place is decided by the text before
// it and by max_match_bytes from there on, no more and, unless the text has ended, no less. So (1) a search sees no
// further than max_match_bytes from where it begins; (2) a start is decided when the matcher could decide without
// looking at the end of what it saw, or when all of max_match_bytes were there; (3) otherwise it waits for more text.
class RuleScanner {
 public:
  RuleScanner(const Matcher& matcher, size_t rule, size_t max_match_bytes)
      : matcher_(matcher), rule_(rule), max_match_bytes_(max_match_bytes), scratch_(*matcher.pattern) {}

  // Appends what is certain. `is_end`: no more text will come.
  void Scan(const TextWindow& window, bool is_end, std::vector<Match>& out);
  // The same where something else comes between what was there and what will come: matches in it are found as if it
  // ended, and those that begin in it and reach beyond it are found later.
  void ScanToBorder(const TextWindow& window, std::vector<Match>& out);
  // Starts before it are decided; all, once it has given up: after a match that says so there are no more.
  size_t at() const { return gave_up_ ? SIZE_MAX : at_; }
  size_t rule() const { return rule_; }
  // The first byte that further scans look at.
  size_t NeededFrom(const TextWindow& window) const;

 private:
  bool Decide(const TextWindow& window, const Pattern::Found& found, size_t limit, bool is_end,
              std::vector<Match>& out);
  void Take(const TextWindow& window, size_t begin, size_t end, std::vector<Match>& out);
  void GiveUp(std::vector<Match>& out);

  const Matcher& matcher_;
  const size_t rule_;
  const size_t max_match_bytes_;
  Pattern::Scratch scratch_;
  size_t at_ = 0;
  bool gave_up_ = false;
};

}  // namespace adit::guard

#endif  // ADIT_GUARD_RULE_SCANNER_H_
