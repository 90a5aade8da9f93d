#ifndef ADIT_CLI_MODEL_TIMER_H_
#define ADIT_CLI_MODEL_TIMER_H_

#include <cstdint>
#include <vector>

#include "adit/status.h"
#include "engine/model_runner.h"

namespace adit::cli {

// One measurement: `batch` sequences that hold `depth` tokens each get num_prompt more in chunks, or num_gen one after
// another. One of the two is 0.
struct ModelTest {
  int64_t num_prompt = 0;
  int64_t num_gen = 0;
  int64_t depth = 0;
  int64_t batch = 1;
  std::vector<double> tokens_per_s;

  int64_t tokens() const { return batch * (num_prompt + num_gen); }
  int64_t length() const { return depth + num_prompt + num_gen; }
};

// Times tests on one loaded model, with random tokens. One thread at a time.
class ModelTimer {
 public:
  // `runner` outlives this. prompt_logits: those that the last pass of a prompt computes.
  ModelTimer(engine::ModelRunner& runner, uint64_t seed,
             engine::LogitsWanted prompt_logits = engine::LogitsWanted::kLast);

  // Seconds of the test proper; filling up to its depth is not timed. ResourceExhausted where the cache of the runner
  // is too small.
  Result<double> Time(const ModelTest& test);

 private:
  int32_t RandomToken();
  // num_tokens more for each sequence, one sequence after another, as many at a time as a pass takes.
  Status Fill(std::vector<engine::SequenceCache>& sequences, int64_t num_tokens, engine::LogitsWanted last);
  // A token more for every sequence at once.
  Status Step(std::vector<engine::SequenceCache>& sequences);

  engine::ModelRunner& runner_;
  const uint64_t seed_;
  const engine::LogitsWanted prompt_logits_;
  uint64_t num_drawn_ = 0;
  const uint64_t vocab_size_;
  std::vector<int32_t> tokens_;
  std::vector<engine::SequenceStep> steps_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_MODEL_TIMER_H_
