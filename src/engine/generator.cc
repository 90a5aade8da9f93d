#include "engine/generator.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace adit::engine {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

Generator::Generator(ModelRunner& runner) : runner_(runner), sequence_(runner.NewSequence()) {}

bool Generator::EndsGeneration(int32_t token) const {
  const auto ids = runner_.model().tokenizer().end_of_generation_ids();
  return std::find(ids.begin(), ids.end(), token) != ids.end();
}

Result<std::span<const float>> Generator::Prefill(std::span<const int32_t> tokens,
                                                  const std::function<bool()>& cancelled) {
  std::span<const float> logits;
  while (!tokens.empty()) {
    if (cancelled()) return std::span<const float>();
    const auto chunk = tokens.first(std::min(tokens.size(), static_cast<size_t>(runner_.max_batch_tokens())));
    const SequenceStep step{.sequence = &sequence_,
                            .tokens = chunk,
                            .logits = chunk.size() == tokens.size() ? LogitsWanted::kLast : LogitsWanted::kNone};
    ADIT_ASSIGN_OR_RETURN(logits, runner_.Run(std::span(&step, 1)));
    tokens_.insert(tokens_.end(), chunk.begin(), chunk.end());
    tokens = tokens.subspan(chunk.size());
  }
  return logits;
}

Result<GenerateStats> Generator::Generate(std::span<const int32_t> prompt, const GenerateOptions& options,
                                          const std::function<bool(const sample::SampledToken&)>& on_token,
                                          const std::function<bool()>& cancelled) {
  const int64_t num_prompt = static_cast<int64_t>(prompt.size());
  if (prompt.empty()) return InvalidArgument("the prompt is empty");
  if (num_prompt >= options.context_length) {
    return InvalidArgument("the prompt has {} tokens, which leaves no room for an answer in a context of {}",
                           num_prompt, options.context_length);
  }
  ADIT_ASSIGN_OR_RETURN(sample::Sampler sampler,
                        sample::Sampler::Create(options.sampling, runner_.model().tokenizer().vocab_size()));

  // The last prompt token always runs: its logits choose the first answer token.
  const auto shared_end = std::mismatch(prompt.begin(), prompt.end() - 1, tokens_.begin(), tokens_.end()).first;
  GenerateStats stats{.prompt_tokens = num_prompt, .cached_tokens = shared_end - prompt.begin()};
  sequence_.Truncate(stats.cached_tokens);
  tokens_.resize(static_cast<size_t>(stats.cached_tokens));

  Clock::time_point start = Clock::now();
  ADIT_ASSIGN_OR_RETURN(std::span<const float> logits,
                        Prefill(prompt.subspan(static_cast<size_t>(stats.cached_tokens)), cancelled));
  stats.prefill_seconds = SecondsSince(start);

  const int64_t room = options.context_length - num_prompt;
  const int64_t max_tokens = options.max_tokens < 0 ? room : std::min(options.max_tokens, room);
  std::vector<int32_t> answer;
  start = Clock::now();
  while (true) {
    if (logits.empty() || cancelled()) {
      stats.reason = FinishReason::kCancelled;
      break;
    }
    if (stats.generated_tokens >= max_tokens) {
      stats.reason = FinishReason::kLength;
      break;
    }
    ADIT_ASSIGN_OR_RETURN(const sample::SampledToken token,
                          sampler.Sample(logits.first(static_cast<size_t>(sampler.vocab_size())), prompt, answer,
                                         num_prompt + stats.generated_tokens));
    ++stats.generated_tokens;
    if (!options.ignore_eos && EndsGeneration(token.id)) {
      stats.reason = FinishReason::kStop;
      break;
    }
    answer.push_back(token.id);
    if (!on_token(token)) {
      stats.reason = FinishReason::kCancelled;
      break;
    }
    if (stats.generated_tokens >= max_tokens) continue;
    const SequenceStep step{.sequence = &sequence_, .tokens = std::span(&answer.back(), 1)};
    ADIT_ASSIGN_OR_RETURN(logits, runner_.Run(std::span(&step, 1)));
    tokens_.push_back(token.id);
  }
  stats.decode_seconds = SecondsSince(start);
  return stats;
}

}  // namespace adit::engine
