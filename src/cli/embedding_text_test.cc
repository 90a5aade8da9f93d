#include "cli/embedding_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace adit::cli {
namespace {

TEST(EmbeddingLines, AreNumbersThatReadBackAsTheSame) {
  const std::vector<float> numbers = {0.1f, -3.0f, 1e-20f, 16777216.0f};
  const std::string lines = EmbeddingLines({.numbers = numbers, .dim = 4});
  EXPECT_EQ(lines, "0.1 -3 1e-20 16777216\n");
}

TEST(EmbeddingLines, OfOneThatIsNotPooledEndWithAnEmptyLine) {
  const std::vector<float> numbers = {1.0f, 2.0f, 3.0f, 4.0f};
  EXPECT_EQ(EmbeddingLines({.numbers = numbers, .dim = 2, .pooled = false}), "1 2\n3 4\n\n");
}

TEST(EmbeddingJson, HoldsAListOrAListOfLists) {
  const std::vector<float> numbers = {1.0f, 0.5f, 3.0f, 4.0f};
  EXPECT_EQ(EmbeddingJson(3, 7, {.numbers = numbers, .dim = 4}),
            "{\"index\":3,\"tokens\":7,\"embedding\":[1,0.5,3,4]}\n");
  EXPECT_EQ(EmbeddingJson(0, 2, {.numbers = numbers, .dim = 2, .pooled = false}),
            "{\"index\":0,\"tokens\":2,\"embedding\":[[1,0.5],[3,4]]}\n");
}

TEST(EmbeddingJson, HasNullForWhatJsonHasNoNumberFor) {
  const std::vector<float> numbers = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  EXPECT_EQ(EmbeddingJson(0, 1, {.numbers = numbers, .dim = 2}),
            "{\"index\":0,\"tokens\":1,\"embedding\":[null,null]}\n");
}

}  // namespace
}  // namespace adit::cli
