#include "guard/rule_scanner.h"

#include <algorithm>

namespace adit::guard {
namespace {

using Outcome = Pattern::Outcome;
using End = Pattern::End;

bool IsInsideChar(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

size_t NextChar(std::string_view text, size_t at) {
  ++at;
  while (IsInsideChar(text, at)) ++at;
  return at;
}

}  // namespace

void RuleScanner::Scan(const TextWindow& window, bool is_end, std::vector<Match>& out) {
  while (!gave_up_ && at_ < window.end()) {
    const size_t at = at_ - window.base;
    size_t limit = std::min(window.text.size(), at + max_match_bytes_);
    while (IsInsideChar(window.text, limit)) --limit;
    const bool is_last = is_end && limit == window.text.size();
    const std::string_view seen = window.text.substr(0, limit);
    const End end = is_last ? End::kClosed : End::kOpen;
    Pattern::Found found = matcher_.pattern->Search(seen, at, end, /*here=*/false, scratch_);
    // The work may have been that of several starts together: one by one, then.
    if (found.outcome == Outcome::kGaveUp) {
      found = matcher_.pattern->Search(seen, at, end, /*here=*/true, scratch_);
      if (found.outcome == Outcome::kNone) {
        at_ = window.base + NextChar(window.text, at);
        continue;
      }
    }
    if (!Decide(window, found, limit, is_end, out)) return;
  }
}

void RuleScanner::ScanToBorder(const TextWindow& window, std::vector<Match>& out) {
  const size_t begin = at_;
  const size_t num_found = out.size();
  Scan(window, /*is_end=*/true, out);
  at_ = out.size() > num_found ? std::max(begin, out.back().end) : begin;
}

// What a search over the text up to `limit` says. False when more text is needed.
bool RuleScanner::Decide(const TextWindow& window, const Pattern::Found& found, size_t limit, bool is_end,
                         std::vector<Match>& out) {
  switch (found.outcome) {
    case Outcome::kNone:
      at_ = window.base + limit;
      return true;
    case Outcome::kFound:
      Take(window, found.begin, found.end, out);
      return true;
    case Outcome::kGaveUp:
      GiveUp(out);
      return true;
    case Outcome::kPartial:
      break;
  }
  const bool is_first = window.base + found.begin <= at_;
  at_ = std::max(at_, window.base + found.begin);
  const size_t at = at_ - window.base;
  if (at + max_match_bytes_ > window.text.size()) return is_end;
  // There is more text than was seen: from that start on, then.
  if (!is_first) return true;
  const Pattern::Found last =
      matcher_.pattern->Search(window.text.substr(0, limit), at, End::kCut, /*here=*/true, scratch_);
  if (last.outcome == Outcome::kFound) {
    Take(window, last.begin, last.end, out);
  } else if (last.outcome == Outcome::kGaveUp) {
    GiveUp(out);
  } else {
    at_ = window.base + NextChar(window.text, at);
  }
  return true;
}

void RuleScanner::Take(const TextWindow& window, size_t begin, size_t end, std::vector<Match>& out) {
  const std::string_view found = window.text.substr(begin, end - begin);
  const size_t length = matcher_.check == nullptr ? found.size() : matcher_.check(found);
  if (length == 0) {
    at_ = window.base + NextChar(window.text, begin);
    return;
  }
  out.push_back({.begin = window.base + begin, .end = window.base + begin + length, .rule = rule_});
  at_ = window.base + begin + length;
}

void RuleScanner::GiveUp(std::vector<Match>& out) {
  out.push_back({.begin = at_, .end = at_, .rule = rule_, .gave_up = true});
  gave_up_ = true;
}

size_t RuleScanner::NeededFrom(const TextWindow& window) const {
  if (gave_up_) return window.end();
  // One character more, so that no place but the first of the text looks like its start.
  size_t from = at_ - window.base;
  for (size_t i = 0; i <= matcher_.pattern->lookbehind_chars() && from > 0; ++i) {
    --from;
    while (IsInsideChar(window.text, from)) --from;
  }
  return window.base + from;
}

}  // namespace adit::guard
