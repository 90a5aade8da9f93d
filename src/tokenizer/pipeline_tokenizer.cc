#include "tokenizer/pipeline_tokenizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace adit::tokenizer {

PipelineTokenizer::PipelineTokenizer(Parts parts, Pipeline pipeline)
    : VocabularyTokenizer(std::move(parts)), pipeline_(std::move(pipeline)) {}

std::string PipelineTokenizer::Normalized(std::string_view text) const {
  std::string normalized = IsValidUtf8(text) ? std::string(text) : ReplaceInvalidUtf8(text);
  if (pipeline_.normalizer != nullptr) pipeline_.normalizer->Apply(normalized);
  return normalized;
}

void PipelineTokenizer::EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const {
  std::string storage;
  std::string_view text = run.text;
  if (pipeline_.normalizer != nullptr || !IsValidUtf8(text)) text = storage = Normalized(text);
  const SpecialMatcher& matcher = pipeline_.normalized_matcher;
  if (matcher.empty()) return EncodeNormalized(text, run.begin == 0, ids);
  const std::vector<TrustedRange> trusted =
      pipeline_.normalized_trust ? TrustedIn(run, text.size()) : std::vector<TrustedRange>();
  const auto encode_part = [&](size_t begin, size_t end) {
    EncodeNormalized(text.substr(begin, end - begin), run.begin == 0 && begin == 0, ids);
  };
  FindSpecials(matcher, text, trusted, encode_part, ids);
}

// Where in the normalized text of `run` it is trusted. A border lies behind the normalized text of all that is before
// it.
std::vector<TrustedRange> PipelineTokenizer::TrustedIn(const TextRun& run, size_t normalized_bytes) const {
  constexpr size_t kMaxWorkBytes = size_t{1} << 28;
  std::vector<TrustedRange> ranges;
  const size_t run_end = run.begin + run.text.size();
  size_t work = 0;
  const auto border = [&](size_t offset) {
    if (offset <= run.begin) return size_t{0};
    if (offset >= run_end) return normalized_bytes;
    work += offset - run.begin;
    return std::min(normalized_bytes, Normalized(run.text.substr(0, offset - run.begin)).size());
  };
  for (const TrustedRange& range : run.trusted) {
    if (range.end <= run.begin) continue;
    // A run of that many segments is trusted no further: text stays text.
    if (range.begin >= run_end || work > kMaxWorkBytes) break;
    ranges.push_back({border(range.begin), border(range.end)});
  }
  return ranges;
}

void PipelineTokenizer::EncodeNormalized(std::string_view text, bool at_start, std::vector<int32_t>& ids) const {
  if (text.empty()) return;
  CutText cut(text, at_start);
  for (const auto& step : pipeline_.cutters) step->Apply(cut);
  pipeline_.model->Encode(cut.text(), cut.words(), ids);
}

}  // namespace adit::tokenizer
