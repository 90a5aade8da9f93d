#include "models/classifier.h"

#include <cmath>

#include "base/check.h"

namespace adit::models {
namespace {

std::vector<double> Project(std::span<const float> matrix, std::span<const float> bias, std::span<const double> x) {
  ADIT_CHECK(!x.empty() && matrix.size() % x.size() == 0);
  std::vector<double> out(matrix.size() / x.size());
  for (size_t row = 0; row < out.size(); ++row) {
    double sum = bias.empty() ? 0.0 : static_cast<double>(bias[row]);
    for (size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(matrix[row * x.size() + i]) * x[i];
    out[row] = sum;
  }
  return out;
}

}  // namespace

std::vector<float> Classify(const ClassifierWeights& weights, std::span<const float> state) {
  std::vector<double> dense =
      Project(weights.dense, weights.dense_bias, std::vector<double>(state.begin(), state.end()));
  for (double& number : dense) number = std::tanh(number);
  const std::vector<double> out = Project(weights.out, weights.out_bias, dense);
  return {out.begin(), out.end()};
}

}  // namespace adit::models
