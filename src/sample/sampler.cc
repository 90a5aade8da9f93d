#include "sample/sampler.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "sample/allowed_tokens.h"
#include "sample/bad_words.h"
#include "sample/chain.h"
#include "sample/draw.h"
#include "sample/no_repeat_ngram.h"
#include "sample/random_streams.h"
#include "sample/select_top.h"

namespace adit::sample {
namespace {

// What comes before the chain, so that a ban holds whatever its steps are; AllowedTokens needs a whole list.
struct BanStep {
  std::string_view field;
  MakeProcessor make;
};
constexpr BanStep kBans[] = {
    {"allowed_token_ids", MakeAllowedTokens}, {"bad_words", MakeBadWords}, {"no_repeat_ngram_size", MakeNoRepeatNgram}};

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
    : params_(std::move(params)), vocab_size_(vocab_size), scratch_(scratch) {
  for (const BanStep& ban : kBans) {
    if (std::unique_ptr<Processor> step = ban.make(params_)) bans_.push_back({ban.field, std::move(step)});
  }
  for (const ChainStep* kind : ChainOf(params_)) {
    greedy_ = kind->leaves_one != nullptr && kind->leaves_one(params_);
    if (greedy_) break;
    if (std::unique_ptr<Processor> step = kind->make(params_)) chain_.push_back(std::move(step));
  }
  while (greedy_ && !chain_.empty() && chain_.back()->KeepsBest()) chain_.pop_back();
  if (params_.mirostat != 0) mirostat_.emplace(params_);
  if (scratch_ == nullptr) {
    own_scratch_ = std::make_unique<SampleScratch>();
    scratch_ = own_scratch_.get();
  }
  if (params_.top_logprobs > 0) top_.reserve(static_cast<size_t>(params_.top_logprobs));
}

Result<SampledToken> Sampler::Sample(std::span<const float> logits, std::span<const int32_t> prompt,
                                     std::span<const int32_t> output, int64_t position, const SamplerState& state,
                                     std::span<const uint32_t> mask) {
  if (static_cast<int64_t>(logits.size()) != vocab_size_) {
    return InvalidArgument("sample: position {}: {} logits, the vocabulary has {} tokens", position, logits.size(),
                           vocab_size_);
  }
  const BestLogit best = FindBest(logits);
  if (best.index < 0) return FailedPrecondition("sample: position {}: logits are all NaN or -inf", position);
  SampledToken token{.state = state};
  ADIT_ASSIGN_OR_RETURN(token.id, Pick(logits, best, {prompt, output, *scratch_, position}, mask, token.state));
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
                              std::span<const uint32_t> mask, SamplerState& state) {
  const bool unchanged = params_.logit_bias.empty() && bans_.empty() && mask.empty();
  if (greedy_ && chain_.empty() && unchanged) return static_cast<int32_t>(best.index);
  Candidates& candidates = context.scratch.candidates;
  candidates.Reset(logits, best.logit);
  if (!unchanged) ADIT_RETURN_IF_ERROR(ApplyBans(context, candidates));
  if (!mask.empty()) {
    candidates.KeepMask(mask);
    if (FindBest(candidates.logits()).index < 0) {
      return InvalidArgument("sample: position {}: the grammar leaves no token that can be picked", context.position);
    }
  }
  for (const auto& step : chain_) step->Apply(context, candidates);
  if (greedy_) return candidates.id(FindBest(candidates.logits()).index);
  const auto seed = static_cast<uint64_t>(params_.seed);
  const double uniform = RandomUniform(seed, static_cast<uint64_t>(context.position), kDrawStream);
  const int64_t drawn = mirostat_ ? mirostat_->Draw(uniform, context.scratch, candidates, state)
                                  : DrawIndex(candidates.logits(), uniform);
  return candidates.id(drawn);
}

Status Sampler::ApplyBans(const SampleContext& context, Candidates& candidates) const {
  if (!params_.logit_bias.empty()) {
    ApplyLogitBias(params_.logit_bias, candidates);
    if (FindBest(candidates.logits()).index < 0) {
      return InvalidArgument("sample: position {}: logit_bias bans every token that the model allows",
                             context.position);
    }
  }
  for (const Ban& ban : bans_) {
    ban.step->Apply(context, candidates);
    if (FindBest(candidates.logits()).index < 0) {
      return InvalidArgument("sample: position {}: {} leaves no token that can be picked", context.position, ban.field);
    }
  }
  return Status();
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
