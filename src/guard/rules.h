#ifndef ADIT_GUARD_RULES_H_
#define ADIT_GUARD_RULES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "guard/pattern.h"

namespace adit::guard {

// What becomes of a text in which a rule finds something.
enum class Action : uint8_t {
  kFlag,    // it is told of
  kRedact,  // what was found is replaced
  kBlock,   // the text ends before it; a request is refused
};
std::string_view ActionName(Action action);

enum class Side : uint8_t {
  kInput,   // what clients send
  kOutput,  // what models answer
};
std::string_view SideName(Side side);

// How much of what a pattern has found, from its start, is what it looks for; 0: nothing of it. Depends on the bytes
// alone.
using Check = size_t (*)(std::string_view found);

// One thing that a rule looks for.
struct Matcher {
  std::shared_ptr<const Pattern> pattern;
  Check check = nullptr;  // none: all that is found
};

struct Rule {
  std::string name;
  std::string kind;  // "regex", "words" or "pii"
  Action action = Action::kFlag;
  bool on_input = true;
  bool on_output = true;
  std::string replacement;  // of what is redacted
  std::vector<Matcher> matchers;

  bool On(Side side) const { return side == Side::kInput ? on_input : on_output; }
};

// The rules of a deployment. Immutable; any thread.
struct Rules {
  std::vector<Rule> rules;
  // The longest match, with what the pattern looks at behind it; no more text than this is ever held back.
  size_t max_match_bytes = 1024;

  bool Any(Side side) const;
  // Whether some rule changes texts of a side, or ends them.
  bool Changes(Side side) const;
};

// The same rules, in their order, each of which only flags, on both sides.
Rules AllFlagged(const Rules& rules);

// What a rule found in a text.
struct Verdict {
  const Rule* rule = nullptr;
  Side side = Side::kInput;
  int64_t count = 0;
  // A pattern took more work than it may: the rule ended the text, or a rule that only flags was given up.
  bool gave_up = false;
};

// Adds what was found in one more text of a request.
void AddVerdicts(const std::vector<Verdict>& from, std::vector<Verdict>& to);

}  // namespace adit::guard

#endif  // ADIT_GUARD_RULES_H_
