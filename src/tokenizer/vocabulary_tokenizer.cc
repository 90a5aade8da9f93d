#include "tokenizer/vocabulary_tokenizer.h"

#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::tokenizer {
namespace {

std::vector<TrustedRange> TrustedRanges(std::span<const TextSegment> segments) {
  std::vector<TrustedRange> ranges;
  size_t pos = 0;
  for (const TextSegment& segment : segments) {
    const size_t end = pos + segment.text.size();
    if (segment.trusted && !ranges.empty() && ranges.back().end == pos) {
      ranges.back().end = end;
    } else if (segment.trusted) {
      ranges.push_back({pos, end});
    }
    pos = end;
  }
  return ranges;
}

// All segments as one text; `storage` holds it where there is more than one.
std::string_view Join(std::span<const TextSegment> segments, std::string& storage) {
  if (segments.size() == 1) return segments[0].text;
  for (const TextSegment& segment : segments) storage.append(segment.text);
  return storage;
}

}  // namespace

VocabularyTokenizer::VocabularyTokenizer(Parts parts)
    : vocabulary_(std::move(parts.vocabulary)),
      special_(std::move(parts.special)),
      texts_(std::move(parts.texts)),
      matcher_(std::move(parts.matcher)) {}

SpecialMatcher VocabularyTokenizer::MatcherByType(const Vocabulary& vocabulary) {
  SpecialMatcher matcher;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const bool hidden = vocabulary.IsHidden(id);
    if (!hidden && vocabulary.Type(id) != TokenType::kUserDefined) continue;
    if (!vocabulary.pieces[id].empty()) matcher.Add(vocabulary.pieces[id], id, {.needs_trust = hidden});
  }
  matcher.Build();
  return matcher;
}

std::vector<int32_t> VocabularyTokenizer::Encode(std::span<const TextSegment> segments, bool add_special) const {
  std::vector<int32_t> ids;
  if (add_special) ids = special_.before;
  std::string storage;
  const std::string_view text = Join(segments, storage);
  const std::vector<TrustedRange> trusted = TrustedRanges(segments);
  const auto encode = [&](size_t begin, size_t end) {
    EncodeLongRun({text.substr(begin, end - begin), begin, true, trusted}, ids);
  };
  FindSpecials(matcher_, text, trusted, encode, ids);
  if (add_special) ids.insert(ids.end(), special_.behind.begin(), special_.behind.end());
  return ids;
}

void VocabularyTokenizer::EncodeLongRun(TextRun run, std::vector<int32_t>& ids) const {
  // Positions within a run are 32 bits, and a space becomes three bytes.
  constexpr size_t kMaxRunBytes = size_t{1} << 29;
  for (std::string_view rest = run.text; !rest.empty();) {
    run.text = rest.substr(0, kMaxRunBytes);
    EncodeRun(run, ids);
    run.begin += run.text.size();
    run.after_special = false;
    rest.remove_prefix(run.text.size());
  }
}

std::string VocabularyTokenizer::TokenBytes(int32_t id, bool with_special) const {
  ADIT_DCHECK(id >= 0 && id < vocab_size());
  if (!with_special && vocabulary_.IsHidden(id)) return std::string();
  return std::string(texts_.bytes(id));
}

void VocabularyTokenizer::DecodeNext(int32_t id, bool with_special, DecodeState& state, std::string& out) const {
  ADIT_DCHECK(id >= 0 && id < vocab_size());
  if (with_special || !vocabulary_.IsHidden(id)) texts_.Next(id, state, out);
}

void VocabularyTokenizer::DecodeEnd(DecodeState& state, std::string& out) const { texts_.End(state, out); }

Result<std::string> VocabularyTokenizer::Decode(std::span<const int32_t> ids, bool with_special) const {
  std::string text;
  DecodeState state;
  for (size_t i = 0; i < ids.size(); ++i) {
    const int32_t id = ids[i];
    if (id < 0 || id >= vocab_size()) {
      return InvalidArgument("decode: token {} of {} has id {}, wanted 0 to {}", i, ids.size(), id, vocab_size() - 1);
    }
    DecodeNext(id, with_special, state, text);
  }
  DecodeEnd(state, text);
  return text;
}

}  // namespace adit::tokenizer
