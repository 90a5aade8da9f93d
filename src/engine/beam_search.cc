#include "engine/beam_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace adit::engine {

BeamSearch::BeamSearch(const BeamSearchParams& params, int64_t max_tokens, std::vector<int32_t> end_tokens)
    : params_(params), max_tokens_(max_tokens), end_tokens_(std::move(end_tokens)), beams_(1) {}

bool BeamSearch::Ends(int32_t token) const {
  return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

double BeamSearch::Score(double sum, int64_t length) const {
  return sum / std::pow(static_cast<double>(length), params_.length_penalty);
}

void BeamSearch::Complete(const Beam& parent, int32_t token, double sum, FinishReason reason) {
  Answer answer{.tokens = parent.tokens, .sum = sum, .reason = reason};
  answer.tokens.push_back(token);
  answer.score = Score(sum, static_cast<int64_t>(answer.tokens.size()));
  const auto place = std::upper_bound(complete_.begin(), complete_.end(), answer,
                                      [](const Answer& a, const Answer& b) { return a.score > b.score; });
  complete_.insert(place, std::move(answer));
  if (complete_.size() > static_cast<size_t>(params_.width)) complete_.pop_back();
}

std::span<const BeamSearch::Move> BeamSearch::Step(std::span<const std::vector<sample::TokenLogprob>> likeliest) {
  const auto width = static_cast<size_t>(params_.width);
  candidates_.clear();
  for (size_t beam = 0; beam < beams_.size(); ++beam) {
    for (const sample::TokenLogprob& token : likeliest[beam]) {
      candidates_.push_back({static_cast<int32_t>(beam), token.id, beams_[beam].sum + token.logprob});
    }
  }
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.sum > b.sum; });
  candidates_.resize(std::min(candidates_.size(), 2 * width));

  ++length_;
  const bool last = length_ >= max_tokens_;
  moves_.clear();
  std::vector<Beam> next;
  for (size_t rank = 0; rank < candidates_.size(); ++rank) {
    const Candidate& candidate = candidates_[rank];
    const Beam& parent = beams_[static_cast<size_t>(candidate.parent)];
    if (Ends(candidate.token)) {
      if (rank < width) Complete(parent, candidate.token, candidate.sum, FinishReason::kStop);
    } else if (next.size() < width) {
      if (last) Complete(parent, candidate.token, candidate.sum, FinishReason::kLength);
      next.push_back({.tokens = parent.tokens, .sum = candidate.sum});
      next.back().tokens.push_back(candidate.token);
      moves_.push_back({candidate.parent, candidate.token});
    }
  }
  beams_ = std::move(next);
  done_ = last || beams_.empty() || IsOver();
  if (done_) moves_.clear();
  return moves_;
}

// Whether no beam can, or is allowed to, add an answer to the complete ones.
bool BeamSearch::IsOver() const {
  if (complete_.size() < static_cast<size_t>(params_.width)) return false;
  if (params_.early_stopping == EarlyStopping::kWhenDone) return true;
  // A positive length penalty favours long answers: at most this good can the best beam become.
  const bool longest = params_.early_stopping == EarlyStopping::kNever && params_.length_penalty > 0.0;
  return complete_.back().score >= Score(beams_.front().sum, longest ? max_tokens_ : length_);
}

std::vector<BeamSearch::Answer> BeamSearch::Best(size_t count) const {
  return {complete_.begin(), complete_.begin() + static_cast<std::ptrdiff_t>(std::min(count, complete_.size()))};
}

}  // namespace adit::engine
