#include "sample/sampler.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "sample/draw.h"
#include "sample/min_p.h"
#include "sample/penalties.h"
#include "sample/select_top.h"
#include "sample/temperature.h"
#include "sample/top_k.h"
#include "sample/top_p.h"

namespace adit::sample {
namespace {

// The steps in their order; each maker gives null where the parameters leave its step without effect.
using MakeProcessor = std::unique_ptr<Processor> (*)(const SamplingParams& params);
constexpr MakeProcessor kChain[] = {MakePenalties, MakeTopK, MakeTopP, MakeMinP, MakeTemperature};

// Biases come before the chain, so that a ban holds whatever its steps are.
void ApplyLogitBias(const std::vector<LogitBias>& biases, Candidates& candidates) {
  for (const LogitBias& entry : biases) {
    float& logit = candidates.logits()[static_cast<size_t>(entry.token_id)];
    logit = static_cast<float>(logit + entry.bias);
  }
}

}  // namespace

Result<Sampler> Sampler::Create(SamplingParams params, int64_t vocab_size, const SamplingLimits& limits,
                                SampleScratch* scratch) {
  ADIT_RETURN_IF_ERROR(Validate(params, vocab_size, limits));
  return Sampler(std::move(params), vocab_size, scratch);
}

Sampler::Sampler(SamplingParams params, int64_t vocab_size, SampleScratch* scratch)
    : params_(std::move(params)), vocab_size_(vocab_size), greedy_(IsGreedy(params_)), scratch_(scratch) {
  for (const MakeProcessor make : kChain) {
    std::unique_ptr<Processor> step = make(params_);
    if (step != nullptr && !(greedy_ && step->KeepsBest())) chain_.push_back(std::move(step));
  }
  if (scratch_ == nullptr) {
    own_scratch_ = std::make_unique<SampleScratch>();
    scratch_ = own_scratch_.get();
  }
  if (params_.top_logprobs > 0) top_.reserve(static_cast<size_t>(params_.top_logprobs));
}

Result<SampledToken> Sampler::Sample(std::span<const float> logits, std::span<const int32_t> prompt,
                                     std::span<const int32_t> output, int64_t position) {
  if (static_cast<int64_t>(logits.size()) != vocab_size_) {
    return InvalidArgument("sample: position {}: {} logits, the vocabulary has {} tokens", position, logits.size(),
                           vocab_size_);
  }
  const BestLogit best = FindBest(logits);
  if (best.index < 0) return FailedPrecondition("sample: position {}: logits are all NaN or -inf", position);
  SampledToken token;
  ADIT_ASSIGN_OR_RETURN(token.id, Pick(logits, best, {prompt, output, *scratch_}, position));
  if (params_.top_logprobs < 0) {
    token.logprob = std::numeric_limits<double>::quiet_NaN();
    return token;
  }
  const LogSoftmax log_softmax(logits, best);
  token.logprob = log_softmax(logits[static_cast<size_t>(token.id)]);
  FindTop(logits, log_softmax);
  token.top = top_;
  return token;
}

Result<int32_t> Sampler::Pick(std::span<const float> logits, BestLogit best, const SampleContext& context,
                              int64_t position) {
  if (greedy_ && chain_.empty() && params_.logit_bias.empty()) return static_cast<int32_t>(best.index);
  Candidates& candidates = context.scratch.candidates;
  candidates.Reset(logits, best.logit);
  if (!params_.logit_bias.empty()) {
    ApplyLogitBias(params_.logit_bias, candidates);
    if (FindBest(candidates.logits()).index < 0) {
      return FailedPrecondition("sample: position {}: logit_bias bans every token that the model allows", position);
    }
  }
  for (const auto& step : chain_) step->Apply(context, candidates);
  if (greedy_) return candidates.id(FindBest(candidates.logits()).index);
  const double uniform = RandomUniform(static_cast<uint64_t>(params_.seed), static_cast<uint64_t>(position));
  return candidates.id(DrawIndex(candidates.logits(), uniform));
}

void Sampler::FindTop(std::span<const float> logits, const LogSoftmax& log_softmax) {
  top_.clear();
  SelectTop(logits, params_.top_logprobs, scratch_->ranked);
  for (const Ranked& ranked : scratch_->ranked) {
    const double logprob = log_softmax(ranked.logit);
    if (std::isinf(logprob)) break;
    top_.push_back({static_cast<int32_t>(ranked.index), logprob});
  }
}

}  // namespace adit::sample
