#ifndef ADIT_SAMPLE_TEST_ROWS_H_
#define ADIT_SAMPLE_TEST_ROWS_H_

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "sample/candidates.h"
#include "sample/processor.h"
#include "sample/sampling_params.h"

// What the tests of this folder share: rows to sample from, and the definition of right answers.
namespace adit::sample {

inline constexpr float kTestInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kTestNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> NormalRow(std::mt19937& rng, int64_t vocab_size, double sigma);

// Multiples of 1/2 between -4 and 4: many are equal.
std::vector<float> RowWithTies(std::mt19937& rng, int64_t vocab_size);

std::vector<float> LogsOf(const std::vector<double>& probabilities);

// A list of all tokens of the row.
Candidates MakeCandidates(const std::vector<float>& row);

// The list after one step, without history.
Candidates Apply(const Processor& step, Candidates candidates);

std::vector<int32_t> IdsOf(const Candidates& candidates);
std::vector<float> LogitsOf(const Candidates& candidates);

// Token ids by rank: logit falling, equal ones by id rising. NaN and -inf are left out.
std::vector<int32_t> RankedIds(const std::vector<float>& row);

// log softmax in doubles, with the C library's exp; -inf for NaN and -inf.
std::vector<double> ExactLogSoftmax(const std::vector<float>& row);

// The probability of each token under top_k, top_p, min_p and temperature, by sorting the row and straight from the
// definitions.
std::vector<double> ExactProbabilities(const std::vector<float>& row, const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TEST_ROWS_H_
