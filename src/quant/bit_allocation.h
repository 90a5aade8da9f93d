#ifndef ADIT_QUANT_BIT_ALLOCATION_H_
#define ADIT_QUANT_BIT_ALLOCATION_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace adit::quant {

// One way to hold a tensor: how many bytes it takes, and what it costs in quality.
struct TensorChoice {
  size_t bytes = 0;
  double cost = 0.0;
};

// Which choice of each tensor, so that all together take at most budget_bytes and the sum of costs is small: the
// multiple-choice knapsack problem, solved over the lower convex hull of each tensor's choices by taking the steps that
// save most cost a byte first (Sinha and Zoltners 1979). The sum is above the least possible by no more than one step
// saves; with hundreds of tensors that is nothing. None where even the smallest choices take more. Each tensor has at
// least one choice.
std::optional<std::vector<size_t>> AllocateBits(std::span<const std::vector<TensorChoice>> tensors,
                                                size_t budget_bytes);

}  // namespace adit::quant

#endif  // ADIT_QUANT_BIT_ALLOCATION_H_
