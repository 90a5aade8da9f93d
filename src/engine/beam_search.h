#ifndef ADIT_ENGINE_BEAM_SEARCH_H_
#define ADIT_ENGINE_BEAM_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/request.h"
#include "sample/sampler.h"

namespace adit::engine {

// Beam search over log probabilities, apart from whoever computes them. The rules are those of Hugging Face
// transformers: at each step the 2 * width likeliest continuations of all beams are ranked by their summed log
// probability; those that end and stand among the first `width` become complete answers, and the first `width` that do
// not end are the next beams. A complete answer scores sum / length ^ length_penalty, its length being its tokens with
// the one that ends it; the best `width` are kept. Ties go to the lower beam, then to the likelier token's rank.
class BeamSearch {
 public:
  // A beam of the next step: beam `parent` of this one, and a token.
  struct Move {
    int32_t parent = 0;
    int32_t token = 0;
  };
  struct Answer {
    std::vector<int32_t> tokens;  // the one that ends it included
    double sum = 0.0;
    double score = 0.0;
    FinishReason reason = FinishReason::kStop;
  };

  // Answers of at most max_tokens >= 1 tokens that end at one of `end_tokens`.
  BeamSearch(const BeamSearchParams& params, int64_t max_tokens, std::vector<int32_t> end_tokens);

  // Tokens that Step wants of each beam.
  int32_t num_candidates() const { return 2 * params_.width; }
  // One beam at first, `width` later on.
  size_t num_beams() const { return beams_.size(); }

  // The likeliest tokens of each beam, num_candidates() of them or all there are, falling. Returns the next beams in
  // the order of their rank; none when the search is over.
  std::span<const Move> Step(std::span<const std::vector<sample::TokenLogprob>> likeliest);

  bool done() const { return done_; }
  // The best answers so far, at most `count`, the best first.
  std::vector<Answer> Best(size_t count) const;

 private:
  struct Beam {
    std::vector<int32_t> tokens;
    double sum = 0.0;
  };
  struct Candidate {
    int32_t parent = 0;
    int32_t token = 0;
    double sum = 0.0;
  };

  bool Ends(int32_t token) const;
  double Score(double sum, int64_t length) const;
  void Complete(const Beam& parent, int32_t token, double sum, FinishReason reason);
  bool IsOver() const;

  const BeamSearchParams params_;
  const int64_t max_tokens_;
  const std::vector<int32_t> end_tokens_;
  std::vector<Beam> beams_;
  std::vector<Candidate> candidates_;
  std::vector<Move> moves_;
  std::vector<Answer> complete_;  // best first, at most width
  int64_t length_ = 0;            // tokens of each beam
  bool done_ = false;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_BEAM_SEARCH_H_
