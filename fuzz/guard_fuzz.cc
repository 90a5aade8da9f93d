// Rules and texts from outside. The first byte says what the rest is: rules in TOML, or a rule and a text, parted by a
// zero; the text is guarded whole and in pieces, and must come out the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "guard/guard_stream.h"
#include "guard/personal_data.h"
#include "guard/rules_file.h"
#include "guard/word_list.h"

namespace {

using namespace adit::guard;  // NOLINT(google-build-using-namespace)

constexpr size_t kMaxPatternBytes = 200;
constexpr size_t kMaxTextBytes = 600;

Rule MakeRule(const char* name, Action action) {
  return {.name = name, .kind = "regex", .action = action, .replacement = "[x]"};
}

void AddPattern(std::string_view expression, bool ignore_case, Rule& rule) {
  auto pattern = Pattern::Compile(expression, ignore_case);
  if (pattern.ok()) rule.matchers.push_back({.pattern = *std::move(pattern)});
}

std::string Told(const GuardStream& stream) {
  std::string told = stream.blocked() ? "blocked " : "";
  for (const Verdict& v : stream.verdicts()) {
    told += v.rule->name + "=" + std::to_string(v.count) + (v.gave_up ? "! " : " ");
  }
  return told;
}

// What comes of a text that is cut into pieces of a size.
std::string Outcome(const Rules& rules, std::string_view text, size_t piece, std::string_view whole) {
  GuardStream stream(rules, Side::kOutput);
  std::string out;
  // Something else comes in between, always at the same place.
  const size_t border = text.find('\x01');
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::min(piece, (at < border ? std::min(border, text.size()) : text.size()) - at);
    stream.Append(text.substr(at, length), out);
    at += length;
    if (at == border) stream.Flush(out);
    // What has come out once stays, whatever follows.
    ADIT_CHECK(whole.empty() || whole.starts_with(out));
  }
  stream.Finish(out);
  return out + '\0' + Told(stream);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const uint8_t kind = data[0];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (kind % 8 == 7) {
    (void)ParseRules(rest, "rules.toml", "/nowhere");
    return 0;
  }
  const std::string_view pattern = rest.substr(0, rest.find('\0'));
  const std::string_view text = rest.substr(std::min(rest.size(), pattern.size() + 1));
  if (pattern.size() > kMaxPatternBytes || text.size() > kMaxTextBytes) return 0;
  Rules rules{.max_match_bytes = size_t{64} + kind / 64 * 32};
  rules.rules.push_back(MakeRule("a", static_cast<Action>(kind / 8 % 3)));
  rules.rules.push_back(MakeRule("b", Action::kRedact));
  if (kind % 8 == 5) {
    for (const PersonalData& one : PersonalDataKinds()) {
      AddPattern(one.expression, false, rules.rules[one.check == nullptr ? 0 : 1]);
      if (one.check != nullptr) rules.rules[1].matchers.back().check = one.check;
    }
  } else if (kind % 8 == 6) {
    std::vector<std::string> words = {std::string(pattern), std::string(pattern.substr(0, pattern.size() / 2)), "ab c"};
    for (const std::string& expression : WordExpressions(words)) AddPattern(expression, true, rules.rules[0]);
  } else {
    const size_t bar = pattern.find('\n');
    AddPattern(pattern.substr(0, bar), kind % 2 == 0, rules.rules[0]);
    if (bar != std::string_view::npos) AddPattern(pattern.substr(bar + 1), false, rules.rules[1]);
  }
  const std::string whole = Outcome(rules, text, text.size() + 1, "");
  ADIT_CHECK(Outcome(rules, text, 1, whole) == whole);
  ADIT_CHECK(Outcome(rules, text, data[1] % 64 + 2, whole) == whole);
  return 0;
}
