#include "cli/model_timer.h"

#include <algorithm>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"

namespace adit::cli {

using engine::LogitsWanted;

ModelTimer::ModelTimer(engine::ModelRunner& runner, uint64_t seed, LogitsWanted prompt_logits)
    : runner_(runner),
      seed_(seed),
      prompt_logits_(prompt_logits),
      vocab_size_(static_cast<uint64_t>(runner.model().spec().vocab_size)) {}

Result<double> ModelTimer::Time(const ModelTest& test) {
  std::vector<engine::SequenceCache> sequences;
  for (int64_t i = 0; i < test.batch; ++i) sequences.push_back(runner_.NewSequence());
  ADIT_RETURN_IF_ERROR(Fill(sequences, test.depth, LogitsWanted::kNone));
  const double begin = SteadySeconds();
  ADIT_RETURN_IF_ERROR(Fill(sequences, test.num_prompt, prompt_logits_));
  for (int64_t i = 0; i < test.num_gen; ++i) ADIT_RETURN_IF_ERROR(Step(sequences));
  return SteadySeconds() - begin;
}

int32_t ModelTimer::RandomToken() { return static_cast<int32_t>(RandomBits(seed_, num_drawn_++) % vocab_size_); }

Status ModelTimer::Fill(std::vector<engine::SequenceCache>& sequences, int64_t num_tokens, LogitsWanted last) {
  for (engine::SequenceCache& sequence : sequences) {
    for (int64_t done = 0; done < num_tokens;) {
      const int64_t n = std::min(num_tokens - done, runner_.max_batch_tokens());
      tokens_.resize(static_cast<size_t>(n));
      for (int32_t& token : tokens_) token = RandomToken();
      done += n;
      const engine::SequenceStep step{
          .sequence = &sequence, .tokens = tokens_, .logits = done == num_tokens ? last : LogitsWanted::kNone};
      ADIT_RETURN_IF_ERROR(runner_.Run(std::span(&step, 1)).status());
    }
  }
  return Status();
}

Status ModelTimer::Step(std::vector<engine::SequenceCache>& sequences) {
  tokens_.resize(sequences.size());
  steps_.clear();
  for (size_t i = 0; i < sequences.size(); ++i) {
    tokens_[i] = RandomToken();
    steps_.push_back({.sequence = &sequences[i], .tokens = std::span(tokens_).subspan(i, 1)});
  }
  return runner_.Run(steps_).status();
}

}  // namespace adit::cli
