#include "guard/rules.h"

#include <algorithm>

namespace adit::guard {

std::string_view ActionName(Action action) {
  switch (action) {
    case Action::kFlag:
      return "flag";
    case Action::kRedact:
      return "redact";
    case Action::kBlock:
      return "block";
  }
  return "flag";
}

std::string_view SideName(Side side) { return side == Side::kInput ? "input" : "output"; }

bool Rules::Any(Side side) const {
  return std::any_of(rules.begin(), rules.end(), [side](const Rule& rule) { return rule.On(side); });
}

bool Rules::Changes(Side side) const {
  return std::any_of(rules.begin(), rules.end(),
                     [side](const Rule& rule) { return rule.On(side) && rule.action != Action::kFlag; });
}

Rules AllFlagged(const Rules& rules) {
  Rules flagged = rules;
  for (Rule& rule : flagged.rules) {
    rule.action = Action::kFlag;
    rule.on_input = true;
    rule.on_output = true;
  }
  return flagged;
}

void AddVerdicts(const std::vector<Verdict>& from, std::vector<Verdict>& to) {
  for (const Verdict& verdict : from) {
    const auto known = std::find_if(to.begin(), to.end(), [&verdict](const Verdict& other) {
      return other.rule == verdict.rule && other.side == verdict.side;
    });
    if (known == to.end()) {
      to.push_back(verdict);
    } else {
      known->count += verdict.count;
      known->gave_up = known->gave_up || verdict.gave_up;
    }
  }
}

}  // namespace adit::guard
