#ifndef ADIT_SAMPLING_PARAMS_H_
#define ADIT_SAMPLING_PARAMS_H_

#include <cstdint>
#include <vector>

namespace adit {

// Added to the logit of one token; -infinity bans it.
struct LogitBias {
  int32_t token_id = 0;
  double bias = 0;
};

// How tokens are chosen from logits: what a request asks for. The defaults change nothing, so that tokens are drawn
// from the model's own distribution. Fields act in the order in which they stand here, which is llama.cpp's: bias,
// penalties, top_k, top_p, min_p, temperature. So top_p and min_p see probabilities at temperature 1.
struct SamplingParams {
  // Each bias in -100..100, or -infinity; ids in 0..vocab_size-1; at most kMaxLogitBiases. Biases of one id add up.
  std::vector<LogitBias> logit_bias;

  // In (0, 10], 1 is off. Once for each distinct token of the last `repeat_last_n` tokens of prompt and output together
  // (-1: all of them; 0: none): a positive logit is divided by it, another multiplied (Keskar et al. 2019, CTRL).
  double repetition_penalty = 1.0;
  int64_t repeat_last_n = -1;

  // In -2..2. Subtracted from the logits of the tokens of the output alone: presence_penalty once, frequency_penalty
  // once for each time the token occurs.
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;

  // In -1..vocab_size: the number of best tokens kept; 0 and -1 are off.
  int64_t top_k = 0;

  // In [0, 1]: the smallest set of best tokens is kept whose probability reaches top_p; 1 is off, 0 keeps the best
  // token (Holtzman et al. 2020, nucleus sampling).
  double top_p = 1.0;

  // In [0, 1]: tokens are kept whose probability is at least min_p times that of the best; 0 is off (Nguyen et al.
  // 2024).
  double min_p = 0.0;

  // In 0..2. The kept logits are divided by it; below kGreedyTemperature the best token is taken.
  double temperature = 1.0;

  // With the token's position the only source of randomness. All values are good; who wants a random one draws it.
  int64_t seed = 0;

  // In -1..20: how many of the model's most likely tokens are told along with the sampled one. With 0 only the sampled
  // token's log probability is told; -1 spares its computation, a pass over the row.
  int32_t top_logprobs = 0;
};

}  // namespace adit

#endif  // ADIT_SAMPLING_PARAMS_H_
