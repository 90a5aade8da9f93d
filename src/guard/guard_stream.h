#ifndef ADIT_GUARD_GUARD_STREAM_H_
#define ADIT_GUARD_GUARD_STREAM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "guard/rule_scanner.h"
#include "guard/rules.h"

namespace adit::guard {

// A text on its way past the rules of a side, in pieces. However it is cut, what comes out joined is the same, and so
// are the verdicts: what the rules make of the whole text.
//
// Rules look at the text as it came. What several rules would redact is replaced once where it overlaps, as the first
// of them says. A rule that blocks ends the text before what it found. Held back is only what may still become part of
// something that is redacted or blocked: at most max_match_bytes, and an unfinished character. Bytes that are no UTF-8
// become U+FFFD. One thread at a time.
class GuardStream {
 public:
  // `rules` outlive the object.
  GuardStream(const Rules& rules, Side side);

  // Appends what has become certain to `out`.
  void Append(std::string_view text, std::string& out);
  // Appends what is held back, judged as if the text ended here: something else comes between it and the rest. Of a
  // match that begins in it and ends in the rest, only what is in the rest can still be redacted.
  void Flush(std::string& out);
  // The text has ended.
  void Finish(std::string& out);

  // A rule has ended the text; nothing more comes out.
  bool blocked() const { return blocked_; }
  // In the order of the rules. Of a text that is blocked only what was redacted before, and what blocks.
  std::vector<Verdict> verdicts() const;

 private:
  // What was found of a rule so far.
  struct Tally {
    int64_t count = 0;
    size_t end = 0;  // of the last match
    bool gave_up = false;
  };

  TextWindow window() const { return {.text = text_, .base = base_}; }
  void Advance(bool is_end, std::string& out);
  void Settle(size_t certain, std::string& out);
  void Apply(const Match& match, std::string& out);
  void Show(size_t end, std::string& out);
  void Trim();

  const Rules& rules_;
  const Side side_;
  std::vector<RuleScanner> scanners_;  // of rules of the side
  std::vector<Tally> tallies_;         // of each rule
  std::vector<Match> found_;           // and not applied yet
  size_t flagged_ = 0;                 // matches of rules that flag are known up to here
  std::string unfinished_;             // start of a character
  std::string text_;                   // what is still looked at
  size_t base_ = 0;                    // where in the whole text text_ begins
  size_t shown_ = 0;                   // up to where the text has come out, or been replaced
  size_t replaced_ = 0;                // end of what has been replaced
  bool blocked_ = false;
};

// What becomes of a whole text.
struct Guarded {
  std::string text;
  bool blocked = false;
  std::vector<Verdict> verdicts;
};
Guarded GuardText(const Rules& rules, Side side, std::string_view text);

}  // namespace adit::guard

#endif  // ADIT_GUARD_GUARD_STREAM_H_
