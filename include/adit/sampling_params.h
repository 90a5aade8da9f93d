#ifndef ADIT_SAMPLING_PARAMS_H_
#define ADIT_SAMPLING_PARAMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adit {

// Added to the logit of one token; -infinity bans it.
struct LogitBias {
  int32_t token_id = 0;
  double bias = 0;
};

// Where repetitions end for DRY, as token ids: texts such as a line feed are resolved by whoever has the tokenizer, to
// every token that holds the text, and to the ways of writing it over several tokens.
struct DryBreakers {
  std::vector<int32_t> tokens;                  // each ends repetitions alone; at most vocab_size of them
  std::vector<std::vector<int32_t>> sequences;  // at most 16,384, each of 1 to 64 tokens
};

// How tokens are chosen from logits: what a request asks for. The defaults change nothing, so that tokens are drawn
// from the model's own distribution.
//
// Bans come first: logit_bias, allowed_token_ids, bad_words, no_repeat_ngram_size. They hold whatever follows, and the
// request fails where they leave no token. Then comes the chain, in the order of `samplers`, which by default is that
// in which its fields stand here and llama.cpp's: penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc,
// temperature. So filters see probabilities at temperature 1. Then a token is drawn, by mirostat if it is on.
struct SamplingParams {
  // Each bias in -100..100, or -infinity; ids in 0..vocab_size-1; at most kMaxLogitBiases. Biases of one id add up.
  std::vector<LogitBias> logit_bias;

  // The only tokens that may be picked, ids in 0..vocab_size-1, at most vocab_size of them; empty: all.
  std::vector<int32_t> allowed_token_ids;

  // Sequences of 1 to 256 tokens, at most 1,024: the last token of one is banned where prompt and output together end
  // with the tokens before it.
  std::vector<std::vector<int32_t>> bad_words;

  // In 0..64: no sequence of so many tokens occurs twice in prompt and output together; 0 is off.
  int64_t no_repeat_ngram_size = 0;

  // In (0, 10], 1 is off. Once for each distinct token of the last `repeat_last_n` tokens of prompt and output together
  // (-1: all of them; 0: none): a positive logit is divided by it, another multiplied (Keskar et al. 2019, CTRL).
  double repetition_penalty = 1.0;
  int64_t repeat_last_n = -1;

  // In -2..2. Subtracted from the logits of the tokens of the output alone: presence_penalty once, frequency_penalty
  // once for each time the token occurs.
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;

  // DRY, "don't repeat yourself", as llama.cpp has it: where the last n tokens occurred before, n >=
  // dry_allowed_length, what followed them loses dry_multiplier * dry_base^(n - dry_allowed_length), for the longest
  // such n. Looks at the last `dry_penalty_last_n` tokens of prompt and output together (-1: all; 0: off), and no n
  // reaches back to a breaker; a token that is a breaker alone loses nothing. Multiplier >= 0, where 0 is off; base >
  // 1; allowed length >= 0.
  double dry_multiplier = 0.0;
  double dry_base = 1.75;
  int64_t dry_allowed_length = 2;
  int64_t dry_penalty_last_n = -1;
  DryBreakers dry_sequence_breakers;

  // Tokens are kept whose logit is at most so many standard deviations, of all logits, below the best; up to 0 it is
  // off (Tang et al. 2024, top-n-sigma).
  double top_n_sigma = -1.0;

  // In -1..vocab_size: the number of best tokens kept; 0 and -1 are off.
  int64_t top_k = 0;

  // In (0, 1]: of the tokens whose surprise is nearest the expected one, the smallest set is kept whose probability
  // reaches typical_p; 1 is off (Meister et al. 2022, locally typical sampling).
  double typical_p = 1.0;

  // In [0, 1]: the smallest set of best tokens is kept whose probability reaches top_p; 1 is off, 0 keeps the best
  // token (Holtzman et al. 2020, nucleus sampling).
  double top_p = 1.0;

  // In [0, 1]: tokens are kept whose probability is at least min_p times that of the best; 0 is off (Nguyen et al.
  // 2024).
  double min_p = 0.0;

  // XTC, "exclude top choices": with xtc_probability, in [0, 1], all tokens but the last are dropped whose probability
  // is at least xtc_threshold, in [0, 1]. Off with a probability of 0 or a threshold above 0.5.
  double xtc_probability = 0.0;
  double xtc_threshold = 0.1;

  // In 0..2. The kept logits are divided by it; below kGreedyTemperature the best token is taken. With dynatemp_range,
  // >= 0, above 0 it goes from temperature - range (but not below 0) to temperature + range with the entropy of the
  // kept tokens, as a share of its maximum, raised to dynatemp_exponent, >= 0.
  double temperature = 1.0;
  double dynatemp_range = 0.0;
  double dynatemp_exponent = 1.0;

  // The names of the chain's steps, in the order in which they act, each at most once: those above. A step that is not
  // named does not act, whatever its fields say.
  std::optional<std::vector<std::string>> samplers;

  // 1 or 2, the variants of Basu et al. 2021; 0 is off. Steers the surprise of the tokens drawn, in bits, to
  // mirostat_tau, > 0, with the learning rate mirostat_eta, in (0, 1]. It is a filter itself: of the chain, penalties,
  // dry and temperature act alone. It learns from token to token; see sample::SamplerState.
  int32_t mirostat = 0;
  double mirostat_tau = 5.0;
  double mirostat_eta = 0.1;

  // With the token's position the only source of randomness. All values are good; who wants a random one draws it.
  int64_t seed = 0;

  // In -1..20: how many of the model's most likely tokens are told along with the sampled one. With 0 only the sampled
  // token's log probability is told; -1 spares its computation, a pass over the row.
  int32_t top_logprobs = 0;
};

}  // namespace adit

#endif  // ADIT_SAMPLING_PARAMS_H_
