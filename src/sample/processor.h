#ifndef ADIT_SAMPLE_PROCESSOR_H_
#define ADIT_SAMPLE_PROCESSOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sample/candidates.h"
#include "sample/history.h"

namespace adit::sample {

// Memory that sampling works in. Grows to what the largest row has needed and stays; nothing in it outlives a call.
struct SampleScratch {
  Candidates candidates;
  std::vector<Ranked> ranked;
  std::vector<int32_t> counts;   // by token id; all 0 between uses
  std::vector<int32_t> matches;  // by place in the history

  // Sets memory aside for rows of this length, so that sampling with top_k up to kReservedTopK allocates nothing.
  void Reserve(int64_t vocab_size) {
    candidates.Reserve(vocab_size);
    ranked.reserve(2 * kReservedTopK + 64);
    counts.resize(static_cast<size_t>(vocab_size));
  }

  // counts of the tokens of a vocabulary, all 0.
  std::span<int32_t> CountsFor(int64_t vocab_size) {
    if (counts.size() < static_cast<size_t>(vocab_size)) counts.resize(static_cast<size_t>(vocab_size));
    return std::span(counts).first(static_cast<size_t>(vocab_size));
  }

  static constexpr size_t kReservedTopK = 1024;
};

// What a step may look at beside the candidates.
struct SampleContext {
  std::span<const int32_t> prompt;  // token ids before the output
  std::span<const int32_t> output;  // token ids generated so far
  SampleScratch& scratch;           // `candidates` is the list under work
  int64_t position = 0;             // of the token that is sampled

  History history() const { return {prompt, output}; }
};

// One step of a sampler: changes logits or drops candidates, and keeps the invariants of the list. Constant after its
// construction, so samplers on several threads may run at the same time, each with its own scratch.
class Processor {
 public:
  virtual ~Processor() = default;
  virtual void Apply(const SampleContext& context, Candidates& candidates) const = 0;

  // True when the candidate that ranks first always stays first: a sampler that takes the best token leaves the step
  // out.
  virtual bool KeepsBest() const = 0;
};

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_PROCESSOR_H_
