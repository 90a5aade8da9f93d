#ifndef ADIT_SCHED_OUTPUT_ESTIMATOR_H_
#define ADIT_SCHED_OUTPUT_ESTIMATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace adit::sched {

// What an answer's length may be guessed from.
struct PromptFeatures {
  int32_t tenant = 0;
  int64_t num_prompt = 0;
  uint64_t prefix = 0;     // hash of how the prompt begins, usually its system prompt
  int64_t max_tokens = 0;  // of the answer
};
PromptFeatures FeaturesOf(std::span<const int32_t> prompt, int32_t tenant, int64_t max_tokens);

// Guesses how many tokens an answer will have, from the answers that ended. Two guesses are kept and the one that has
// been closer is told: the mean length of like prompts, and max_tokens times the mean share of max_tokens that answers
// of this tenant use (who sets it to what they need is taken at their word, which is also the guess before anything is
// known). Like prompts are those of the tenant, of the tenant and about the same length, of the tenant and the same
// beginning; means of few answers are drawn towards those of the wider class.
// Holds at most kMaxClasses means, and starts anew when there would be more. Deterministic.
class OutputEstimator {
 public:
  // In 0..max_tokens.
  double Predict(const PromptFeatures& features) const;
  void Observe(const PromptFeatures& features, int64_t num_output);

  static constexpr size_t kMaxClasses = 16384;

 private:
  struct Mean {
    double count = 0.0;
    double value = 0.0;
  };
  struct TenantHistory {
    Mean share;                 // of max_tokens used
    double length_error = 0.0;  // mean absolute error of each guess, relative to max_tokens
    double share_error = 0.0;
    bool seen = false;
  };
  static constexpr size_t kLevels = 4;  // all, tenant, length, beginning
  static std::array<uint64_t, kLevels> Classes(const PromptFeatures& features);

  double PredictByLength(const PromptFeatures& features) const;
  double PredictByShare(const PromptFeatures& features) const;

  std::unordered_map<uint64_t, Mean> lengths_;
  std::unordered_map<int32_t, TenantHistory> tenants_;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_OUTPUT_ESTIMATOR_H_
