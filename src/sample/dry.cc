#include "sample/dry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sample/suffix_matches.h"

namespace adit::sample {
namespace {

// A set of token ids, one bit for each up to the largest.
class TokenSet {
 public:
  void Insert(int32_t token) {
    const auto index = static_cast<size_t>(token);
    if (index >= bits_.size()) bits_.resize(index + 1);
    bits_[index] = true;
  }
  bool Contains(int32_t token) const {
    return token >= 0 && static_cast<size_t>(token) < bits_.size() && bits_[static_cast<size_t>(token)];
  }

 private:
  std::vector<bool> bits_;
};

class Dry final : public Processor {
 public:
  explicit Dry(const SamplingParams& params)
      : multiplier_(params.dry_multiplier),
        base_(params.dry_base),
        allowed_length_(params.dry_allowed_length),
        last_n_(params.dry_penalty_last_n < 0 ? std::numeric_limits<int64_t>::max() : params.dry_penalty_last_n) {
    for (const int32_t token : params.dry_sequence_breakers.tokens) breakers_.Insert(token);
    for (const std::vector<int32_t>& sequence : params.dry_sequence_breakers.sequences) {
      if (sequence.size() == 1) {
        breakers_.Insert(sequence.front());
      } else {
        sequences_.push_back(sequence);
        sequence_ends_.Insert(sequence.back());
      }
    }
    std::sort(sequences_.begin(), sequences_.end(),
              [](const std::vector<int32_t>& a, const std::vector<int32_t>& b) { return a.back() < b.back(); });
  }

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    const History history = context.history();
    const int64_t window = std::min(history.size(), last_n_);
    const int64_t limit = NumAfterBreaker(history, window);
    if (limit < allowed_length_) return;
    std::vector<int32_t>& matches = context.scratch.matches;
    FindSuffixMatches(history, window, limit, matches);

    // The longest match before each token, plus one: 0 stands for none.
    const std::span<int32_t> longest = context.scratch.CountsFor(candidates.vocab_size());
    for (int64_t k = 1; k < window; ++k) {
      const int32_t match = matches[static_cast<size_t>(k)];
      const int32_t token = history.FromEnd(k - 1);
      if (match < allowed_length_ || token < 0 || static_cast<size_t>(token) >= longest.size()) continue;
      int32_t& entry = longest[static_cast<size_t>(token)];
      entry = std::max(entry, match + 1);
    }
    for (int64_t k = 1; k < window; ++k) {
      const int32_t token = history.FromEnd(k - 1);
      if (token < 0 || static_cast<size_t>(token) >= longest.size()) continue;
      const int32_t length = std::exchange(longest[static_cast<size_t>(token)], 0) - 1;
      if (length >= 0 && !breakers_.Contains(token)) Penalise(token, length, candidates);
    }
  }

  bool KeepsBest() const override { return false; }

 private:
  // How many tokens follow the breaker that ends last in the window; all of it when there is none.
  int64_t NumAfterBreaker(const History& history, int64_t window) const {
    for (int64_t after = 0; after < window; ++after) {
      const int32_t token = history.FromEnd(after);
      if (breakers_.Contains(token)) return after;
      if (sequence_ends_.Contains(token) && SequenceEnds(history, after, window)) return after;
    }
    return window;
  }

  bool SequenceEnds(const History& history, int64_t after, int64_t window) const {
    const int32_t token = history.FromEnd(after);
    auto sequence = std::lower_bound(sequences_.begin(), sequences_.end(), token,
                                     [](const std::vector<int32_t>& s, int32_t end) { return s.back() < end; });
    for (; sequence != sequences_.end() && sequence->back() == token; ++sequence) {
      const bool inside = after + static_cast<int64_t>(sequence->size()) <= window;
      if (inside && history.EndsWith(*sequence, after)) return true;
    }
    return false;
  }

  void Penalise(int32_t token, int32_t length, Candidates& candidates) const {
    const int64_t index = candidates.Find(token);
    if (index < 0) return;
    float& logit = candidates.logits()[static_cast<size_t>(index)];
    const double penalty = multiplier_ * std::pow(base_, static_cast<double>(length - allowed_length_));
    if (CanBePicked(logit)) logit = ToFinite(logit - penalty);
  }

  const double multiplier_;
  const double base_;
  const int64_t allowed_length_;
  const int64_t last_n_;
  TokenSet breakers_;                            // single tokens
  std::vector<std::vector<int32_t>> sequences_;  // of two tokens or more, by their last
  TokenSet sequence_ends_;
};

}  // namespace

std::unique_ptr<Processor> MakeDry(const SamplingParams& params) {
  if (params.dry_multiplier == 0 || params.dry_penalty_last_n == 0) return nullptr;
  return std::make_unique<Dry>(params);
}

}  // namespace adit::sample
