#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/test_tables.h"

namespace adit::kernels {
namespace {

constexpr Activation kActivations[] = {Activation::kSilu, Activation::kGeluTanh, Activation::kGeluErf};

double Activate(Activation activation, double x) {
  if (activation == Activation::kSilu) return x / (1.0 + std::exp(-x));
  if (activation == Activation::kGeluErf) return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
  const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  // The two are equal; the definition cancels where tanh is near -1.
  return u < -4.0 ? x / (1.0 + std::exp(-2.0 * u)) : 0.5 * x * (1.0 + std::tanh(u));
}

// Relative error of the exponential's argument, which the exponential turns into an absolute one: gelu by tanh rounds u
// five times, gelu by erf x^2 / 2 twice and the rest of its exponent by as much as 2.
double ActivationTolerance(Activation activation, double x) {
  if (activation == Activation::kGeluErf) {
    const double below = std::min(std::max(-x, 0.0), 14.0);
    return (10.0 + 2.0 * below * below) * kEpsilon;
  }
  double argument = 0.0;
  if (activation == Activation::kGeluTanh) argument = 2.0 * std::sqrt(2.0 / M_PI) * std::abs(x + 0.044715 * x * x * x);
  const double sensitivity = std::min(argument, 110.0) * (x < 0 ? 1.0 : std::exp(-argument));
  return (6.0 + 5.0 * sensitivity) * kEpsilon;
}

std::vector<float> ActivationInputs() {
  RandomFloats random(11);
  std::vector<float> inputs = {0.0f, -0.0f, 1.0f, -1.0f, 1e-30f, -1e-30f, 88.0f, -86.0f, 1e10f, -1e10f};
  for (int i = 0; i < 4000; ++i) inputs.push_back(random.Next(8.0f));
  for (int i = 0; i < 1000; ++i) inputs.push_back(random.Next(85.0f));
  for (float x = 1e-8f; x < 80.0f; x *= 1.01f) inputs.insert(inputs.end(), {x, -x});
  return inputs;
}

TEST(Glu, AgreesWithDoublePrecision) {
  const std::vector<float> gate = ActivationInputs();
  const std::vector<float> up(gate.size(), 1.5f);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : kActivations) {
      SCOPED_TRACE(testing::Message() << table->name << ", activation " << static_cast<int>(activation));
      std::vector<float> out(gate.size());
      table->glu({.gate = gate.data(),
                  .up = up.data(),
                  .out = out.data(),
                  .num_elements = static_cast<int64_t>(gate.size()),
                  .activation = activation});
      std::vector<double> want;
      std::vector<double> tolerance;
      for (const float x : gate) {
        want.push_back(1.5 * Activate(activation, x));
        // Where the exponential is above the largest float, the result is 0.
        tolerance.push_back(ActivationTolerance(activation, x) * std::abs(want.back()) + 0x1p-127 * std::abs(x));
      }
      EXPECT_TRUE(AllWithin(out, want, tolerance));
    }
  }
}

TEST(Glu, GivesAnElementTheSameBitsWhereverItStands) {
  RandomFloats random(3);
  const std::vector<float> gate = random.Vector(70, 4.0f);
  const std::vector<float> up = random.Vector(70);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : kActivations) {
      std::vector<float> whole(gate.size());
      table->glu(
          {.gate = gate.data(), .up = up.data(), .out = whole.data(), .num_elements = 70, .activation = activation});
      for (const size_t n : {1u, 2u, 5u, 8u, 11u, 16u, 19u, 33u}) {
        for (size_t begin = 0; begin + n <= gate.size(); begin += 3) {
          MisalignedFloats part{std::span(gate).subspan(begin, n)};
          table->glu({.gate = part.data(),
                      .up = up.data() + begin,
                      .out = part.data(),
                      .num_elements = static_cast<int64_t>(n),
                      .activation = activation});
          ASSERT_TRUE(SameBits(part.span(), std::span(whole).subspan(begin, n)))
              << table->name << ", " << n << " from " << begin;
          ASSERT_TRUE(part.MarginsIntact());
        }
      }
    }
  }
}

TEST(Glu, HandlesExtremes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> gate = {kInfinity, std::numeric_limits<float>::quiet_NaN(), 3e38f, -3e38f};
  const std::vector<float> up(4, 1.0f);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : kActivations) {
      std::vector<float> out(4);
      table->glu(
          {.gate = gate.data(), .up = up.data(), .out = out.data(), .num_elements = 4, .activation = activation});
      EXPECT_EQ(out[0], kInfinity) << table->name;
      EXPECT_TRUE(std::isnan(out[1])) << table->name;
      EXPECT_EQ(out[2], 3e38f) << table->name;
      EXPECT_EQ(out[3], 0.0f) << table->name;
    }
  }
}

TEST(Activate, IsTheGateOfAnUpOfOne) {
  std::vector<float> gate = ActivationInputs();
  gate.resize(1001);
  const std::vector<float> up(gate.size(), 1.0f);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : kActivations) {
      std::vector<float> want(gate.size());
      table->glu({.gate = gate.data(),
                  .up = up.data(),
                  .out = want.data(),
                  .num_elements = static_cast<int64_t>(gate.size()),
                  .activation = activation});
      for (const size_t n : {gate.size(), size_t{1}, size_t{7}, size_t{16}, size_t{33}}) {
        MisalignedFloats x{std::span(gate).first(n)};
        table->activate({.x = x.data(), .num_elements = static_cast<int64_t>(n), .activation = activation});
        EXPECT_TRUE(SameBits(x.span(), std::span(want).first(n))) << table->name;
        EXPECT_TRUE(x.MarginsIntact());
      }
    }
  }
}

TEST(Softcap, AgreesWithDoublePrecision) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  RandomFloats random(4);
  std::vector<float> inputs = {0.0f, 1e-20f, 3e38f, -3e38f, kInfinity, -kInfinity};
  for (int i = 0; i < 3000; ++i) inputs.push_back(random.Next(200.0f));
  for (const KernelTable* table : TestTables()) {
    for (const float cap : {0.5f, 30.0f, 50.0f}) {
      MisalignedFloats x(inputs);
      table->softcap({.x = x.data(), .num_elements = static_cast<int64_t>(inputs.size()), .cap = cap});
      std::vector<double> want;
      for (const float input : inputs) want.push_back(cap * std::tanh(double{input} / cap));
      EXPECT_TRUE(AllWithin(x.span(), want, std::vector<double>(want.size(), 6 * kEpsilon * cap)))
          << table->name << ", cap " << cap;
      EXPECT_TRUE(x.MarginsIntact());
    }
  }
}

TEST(Softcap, GivesAnElementTheSameBitsWhereverItStands) {
  RandomFloats random(6);
  const std::vector<float> inputs = random.Vector(70, 90.0f);
  for (const KernelTable* table : TestTables()) {
    std::vector<float> whole = inputs;
    table->softcap({.x = whole.data(), .num_elements = 70, .cap = 30.0f});
    for (const size_t n : {1u, 5u, 8u, 11u, 16u, 33u}) {
      for (size_t begin = 0; begin + n <= inputs.size(); begin += 3) {
        MisalignedFloats part{std::span(inputs).subspan(begin, n)};
        table->softcap({.x = part.data(), .num_elements = static_cast<int64_t>(n), .cap = 30.0f});
        ASSERT_TRUE(SameBits(part.span(), std::span(whole).subspan(begin, n))) << table->name << ", from " << begin;
        ASSERT_TRUE(part.MarginsIntact());
      }
    }
  }
}

}  // namespace
}  // namespace adit::kernels
