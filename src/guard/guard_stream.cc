#include "guard/guard_stream.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/utf8.h"

namespace adit::guard {
namespace {

// What is no longer looked at is let go when it is so much.
constexpr size_t kTrimBytes = 4096;

}  // namespace

GuardStream::GuardStream(const Rules& rules, Side side) : rules_(rules), side_(side), tallies_(rules.rules.size()) {
  for (size_t i = 0; i < rules.rules.size(); ++i) {
    const Rule& rule = rules.rules[i];
    if (!rule.On(side)) continue;
    for (const Matcher& matcher : rule.matchers) scanners_.emplace_back(matcher, i, rules.max_match_bytes);
  }
}

void GuardStream::Append(std::string_view text, std::string& out) {
  if (blocked_) return;
  unfinished_ += text;
  const size_t whole = unfinished_.size() - IncompleteUtf8Suffix(unfinished_);
  text_ += ReplaceInvalidUtf8(std::string_view(unfinished_).substr(0, whole));
  unfinished_.erase(0, whole);
  Advance(/*is_end=*/false, out);
}

void GuardStream::Flush(std::string& out) {
  if (blocked_) return;
  for (RuleScanner& scanner : scanners_) scanner.ScanToBorder(window(), found_);
  flagged_ = window().end();
  Settle(window().end(), out);
}

void GuardStream::Finish(std::string& out) {
  if (blocked_) return;
  text_ += ReplaceInvalidUtf8(unfinished_);
  unfinished_.clear();
  Advance(/*is_end=*/true, out);
}

void GuardStream::Advance(bool is_end, std::string& out) {
  size_t certain = window().end();
  flagged_ = certain;
  for (RuleScanner& scanner : scanners_) {
    scanner.Scan(window(), is_end, found_);
    size_t& least = rules_.rules[scanner.rule()].action == Action::kFlag ? flagged_ : certain;
    least = std::min(least, scanner.at());
  }
  Settle(certain, out);
}

// All matches that start before `certain` are known, and those of rules that flag before flagged_. Lets the text up to
// there out.
void GuardStream::Settle(size_t certain, std::string& out) {
  std::sort(found_.begin(), found_.end(), [](const Match& a, const Match& b) {
    return std::tie(a.begin, a.rule, a.end) < std::tie(b.begin, b.rule, b.end);
  });
  std::vector<Match> later;
  for (const Match& match : found_) {
    const bool is_flag = rules_.rules[match.rule].action == Action::kFlag;
    if (match.begin >= (is_flag ? flagged_ : certain)) {
      later.push_back(match);
      continue;
    }
    Apply(match, out);
    if (blocked_) return;
  }
  found_ = std::move(later);
  Show(certain, out);
  Trim();
}

void GuardStream::Apply(const Match& match, std::string& out) {
  const Rule& rule = rules_.rules[match.rule];
  Tally& tally = tallies_[match.rule];
  // Matchers of one rule may find the same thing.
  if (match.gave_up || match.begin >= tally.end) ++tally.count;
  tally.end = std::max(tally.end, match.end);
  tally.gave_up = tally.gave_up || match.gave_up;
  if (rule.action == Action::kFlag) return;
  if (rule.action == Action::kBlock || match.gave_up) {
    Show(match.begin, out);
    blocked_ = true;
    text_.clear();
    return;
  }
  if (match.begin >= replaced_) {
    Show(match.begin, out);
    if (match.end > shown_) out += rule.replacement;
  }
  replaced_ = std::max(replaced_, match.end);
  shown_ = std::max(shown_, match.end);
}

// Lets the text up to a place out, if it is not out yet.
void GuardStream::Show(size_t end, std::string& out) {
  if (end <= shown_) return;
  out.append(text_, shown_ - base_, end - shown_);
  shown_ = end;
}

void GuardStream::Trim() {
  size_t needed = std::min(shown_, window().end());
  for (const RuleScanner& scanner : scanners_) needed = std::min(needed, scanner.NeededFrom(window()));
  if (needed - base_ < kTrimBytes) return;
  text_.erase(0, needed - base_);
  base_ = needed;
}

std::vector<Verdict> GuardStream::verdicts() const {
  std::vector<Verdict> list;
  for (size_t i = 0; i < tallies_.size(); ++i) {
    const Rule& rule = rules_.rules[i];
    const Tally& tally = tallies_[i];
    // How far rules that hold nothing back have looked ahead of a block depends on how the text came.
    if (tally.count == 0 || (blocked_ && rule.action == Action::kFlag)) continue;
    list.push_back({.rule = &rule, .side = side_, .count = tally.count, .gave_up = tally.gave_up});
  }
  return list;
}

Guarded GuardText(const Rules& rules, Side side, std::string_view text) {
  GuardStream stream(rules, side);
  Guarded result;
  stream.Append(text, result.text);
  stream.Finish(result.text);
  result.blocked = stream.blocked();
  result.verdicts = stream.verdicts();
  return result;
}

}  // namespace adit::guard
