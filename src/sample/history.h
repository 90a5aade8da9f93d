#ifndef ADIT_SAMPLE_HISTORY_H_
#define ADIT_SAMPLE_HISTORY_H_

#include <cstdint>
#include <span>

namespace adit::sample {

// Prompt and output as one sequence that is read from its end. Borrows both.
class History {
 public:
  History(std::span<const int32_t> prompt, std::span<const int32_t> output) : prompt_(prompt), output_(output) {}

  int64_t size() const { return static_cast<int64_t>(prompt_.size() + output_.size()); }

  // The token with `i` tokens after it. Precondition: i in 0..size-1.
  int32_t FromEnd(int64_t i) const {
    const auto after = static_cast<size_t>(i);
    if (after < output_.size()) return output_[output_.size() - 1 - after];
    return prompt_[prompt_.size() + output_.size() - 1 - after];
  }

  // Whether `tokens` stand before the last `num_after` tokens.
  bool EndsWith(std::span<const int32_t> tokens, int64_t num_after = 0) const {
    const auto count = static_cast<int64_t>(tokens.size());
    if (num_after + count > size()) return false;
    for (int64_t i = 0; i < count; ++i) {
      if (tokens[static_cast<size_t>(count - 1 - i)] != FromEnd(num_after + i)) return false;
    }
    return true;
  }

 private:
  std::span<const int32_t> prompt_;
  std::span<const int32_t> output_;
};

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_HISTORY_H_
