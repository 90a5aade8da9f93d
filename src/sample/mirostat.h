#ifndef ADIT_SAMPLE_MIROSTAT_H_
#define ADIT_SAMPLE_MIROSTAT_H_

#include <cstdint>
#include <optional>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// What a sampler has learnt from the tokens of one sequence. Whoever owns the sequence owns it: it goes into a call of
// Sampler::Sample, and the SampledToken holds what it becomes if that token is taken. So a sampler itself remembers
// nothing, a token that is not taken leaves no trace, and a sequence whose cache is computed again, whose tokens have
// all been taken once, goes on from the state it had.
struct SamplerState {
  std::optional<double> mirostat_mu;  // the bound of the surprise in bits; 2 * mirostat_tau before the first token
};

// Draws a token so that the surprise of those drawn, -log2 p by the softmax of the logits at hand, is mirostat_tau on
// average (Basu et al. 2021). Version 1 estimates the exponent of Zipf's law from the 100 best and keeps the k best,
// for which the law gives the expected surprise mu; version 2 keeps those whose surprise is at most mu. At least the
// best stays. After the draw mu changes by -mirostat_eta * (surprise - mirostat_tau), where the surprise is that
// before the others were dropped, as in the paper; llama.cpp takes it after.
class Mirostat {
 public:
  explicit Mirostat(const SamplingParams& params);

  // The index of the candidate drawn with `uniform`, in [0, 1). Drops others, and updates `state`.
  int64_t Draw(double uniform, SampleScratch& scratch, Candidates& candidates, SamplerState& state) const;

 private:
  // How many best candidates version 1 keeps.
  int64_t FindK(double mu, SampleScratch& scratch, const Candidates& candidates) const;

  // Constant after construction.
  int32_t version_;
  double tau_;
  double eta_;
};

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_MIROSTAT_H_
