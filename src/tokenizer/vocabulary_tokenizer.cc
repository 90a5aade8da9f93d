#include "tokenizer/vocabulary_tokenizer.h"

#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::tokenizer {
namespace {

// A part of the text within which control tokens count; neighbouring trusted segments are one.
struct TrustedRange {
  size_t begin;
  size_t end;
};

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

VocabularyTokenizer::VocabularyTokenizer(Vocabulary vocabulary, SpecialTokens special, PieceTable bytes,
                                         bool strip_first_space)
    : vocabulary_(std::move(vocabulary)),
      special_(std::move(special)),
      bytes_(std::move(bytes)),
      strip_first_space_(strip_first_space) {
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    const bool hidden = vocabulary_.IsHidden(id);
    if (!hidden && vocabulary_.Type(id) != TokenType::kUserDefined) continue;
    if (!vocabulary_.pieces[id].empty()) matcher_.Add(vocabulary_.pieces[id], id, /*needs_trust=*/hidden);
  }
  matcher_.Build();
}

std::vector<int32_t> VocabularyTokenizer::Encode(std::span<const TextSegment> segments, bool add_special) const {
  std::vector<int32_t> ids;
  if (add_special && special_.add_bos) ids.push_back(*special_.bos);
  std::string storage;
  const std::string_view text = Join(segments, storage);
  const std::vector<TrustedRange> trusted_ranges = TrustedRanges(segments);
  auto range = trusted_ranges.begin();
  size_t run_begin = 0;
  for (size_t pos = 0; pos < text.size();) {
    if (!matcher_.CanStart(text[pos])) {
      ++pos;
      continue;
    }
    while (range != trusted_ranges.end() && range->end <= pos) ++range;
    const bool trusted = range != trusted_ranges.end() && range->begin <= pos;
    const auto match = matcher_.MatchAt(text.substr(pos), trusted ? range->end - pos : 0);
    if (!match) {
      ++pos;
      continue;
    }
    EncodeLongRun(text.substr(run_begin, pos - run_begin), ids);
    ids.push_back(match->id);
    pos += match->length;
    run_begin = pos;
  }
  EncodeLongRun(text.substr(run_begin), ids);
  if (add_special && special_.add_eos) ids.push_back(*special_.eos);
  return ids;
}

void VocabularyTokenizer::EncodeLongRun(std::string_view text, std::vector<int32_t>& ids) const {
  // Positions within a run are 32 bits, and a space becomes three bytes.
  constexpr size_t kMaxRunBytes = size_t{1} << 29;
  for (size_t pos = 0; pos < text.size(); pos += kMaxRunBytes) {
    EncodeRun(text.substr(pos, kMaxRunBytes), /*after_special=*/pos == 0, ids);
  }
}

std::string VocabularyTokenizer::TokenBytes(int32_t id, bool with_special) const {
  ADIT_DCHECK(id >= 0 && id < vocab_size());
  if (!with_special && vocabulary_.IsHidden(id)) return std::string();
  return std::string(bytes_[id]);
}

Result<std::string> VocabularyTokenizer::Decode(std::span<const int32_t> ids, bool with_special) const {
  std::string text;
  bool at_start = strip_first_space_;
  for (size_t i = 0; i < ids.size(); ++i) {
    const int32_t id = ids[i];
    if (id < 0 || id >= vocab_size()) {
      return InvalidArgument("decode: token {} of {} has id {}, wanted 0 to {}", i, ids.size(), id, vocab_size() - 1);
    }
    if (!with_special && vocabulary_.IsHidden(id)) continue;
    std::string_view bytes = bytes_[id];
    if (bytes.empty()) continue;
    // A special token at the start is followed by a space of its own, which stays.
    const bool special = vocabulary_.IsHidden(id) || vocabulary_.Type(id) == TokenType::kUserDefined;
    if (at_start && !special && bytes[0] == ' ') bytes.remove_prefix(1);
    at_start = false;
    text.append(bytes);
  }
  return text;
}

}  // namespace adit::tokenizer
