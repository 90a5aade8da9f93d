#include "tokenizer/split_pattern.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "tokenizer/onig_pattern.h"

namespace adit::tokenizer {
namespace {

struct KnownPattern {
  std::string_view pattern;
  SplitFunction split;
};

// Expressions as tokenizer.json files write them, and the splitters that are held to them by tests.
constexpr KnownPattern kKnownPatterns[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitGpt2},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", SplitGpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
     R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitLlama3},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
     R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitQwen2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|)"
     R"( ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     SplitQwen35},
};

}  // namespace

SplitPattern SplitPattern::FromText(std::string text) {
  ADIT_DCHECK(!text.empty());
  SplitPattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Result<SplitPattern> SplitPattern::FromOnig(std::string_view pattern) {
  SplitPattern made;
  ADIT_ASSIGN_OR_RETURN(const std::string translated, TranslateOnigPattern(pattern));
  ADIT_ASSIGN_OR_RETURN(Regex regex, Regex::Compile(translated));
  made.regex_ = std::make_shared<const Regex>(std::move(regex));
  for (const KnownPattern& known : kKnownPatterns) {
    if (known.pattern == pattern) made.splitter_ = known.split;
  }
  return made;
}

std::string_view SplitPattern::PatternOf(SplitFunction split) {
  for (const KnownPattern& known : kKnownPatterns) {
    if (known.split == split) return known.pattern;
  }
  return {};
}

double SplitPattern::MaxGrowth(std::string_view content) const {
  // An expression may match nothing, before every byte and at the end.
  const double bytes = regex_ == nullptr ? static_cast<double>(text_.size()) : 1;
  const double kept = regex_ == nullptr ? 0 : 1;
  return std::max(1.0, static_cast<double>(content.size()) / bytes + kept);
}

size_t SplitPattern::NextChar(std::string_view text, size_t pos) {
  ++pos;
  while (pos < text.size() && (static_cast<unsigned char>(text[pos]) & 0xC0) == 0x80) ++pos;
  return pos;
}

}  // namespace adit::tokenizer
