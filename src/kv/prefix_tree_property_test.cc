#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "kv/prefix_tree_world.h"

namespace adit::kv {
namespace {

class PrefixTreeProperty : public testing::TestWithParam<Config> {};

TEST_P(PrefixTreeProperty, AgreesWithABruteForceModel) {
  constexpr int kSteps = 15'000;
  // Few sequences leave most pages to the tree; many leave it next to none.
  for (const int64_t max_sequences : {3, 6, 16}) {
    const auto seed = static_cast<uint32_t>(max_sequences);
    World world(GetParam(), max_sequences, seed);
    for (int step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      world.Step();
      world.CheckCounts();
      if (step % 64 == 0) world.CheckInvariants();
      if (HasFailure()) return;
    }
    world.End();
    world.CheckCoverage();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Configs, PrefixTreeProperty,
    testing::Values(Config{"Full", 2, {0}, 3, 40}, Config{"FullOfLongBlocks", 4, {0}, 2, 40},
                    Config{"FullOfSingleTokens", 1, {0}, 3, 100}, Config{"TwoFullGroups", 3, {0, 0}, 2, 60},
                    Config{"OneWindow", 2, {0, 5}, 3, 80}, Config{"TwoWindows", 3, {0, 4, 10}, 2, 80},
                    Config{"WindowOfItself", 4, {1, 0}, 2, 50}, Config{"WindowOfSingleTokens", 1, {0, 3}, 3, 150},
                    Config{"WindowsAlone", 2, {4, 7}, 3, 60}, Config{"OneWindowAlone", 3, {6}, 2, 30},
                    Config{"ConstantHash", 2, {0}, 3, 40, true},
                    Config{"ConstantHashAndWindow", 2, {0, 4}, 2, 60, true}),
    [](const testing::TestParamInfo<Config>& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace adit::kv
