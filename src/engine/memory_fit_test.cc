#include "engine/memory_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::engine {
namespace {

using ::testing::HasSubstr;

TEST(MemoryFit, TheModelsOwnContextIsTheDefaultWhereItFits) {
  EXPECT_EQ(*DefaultContext({.model_tokens = 8192, .bytes_per_token = 1000, .available_bytes = 2 * 8192 * 1000}), 8192);
  EXPECT_EQ(*DefaultContext({.model_tokens = 8192, .bytes_per_token = 1000, .available_bytes = 0}), 8192);
}

TEST(MemoryFit, TheDefaultContextTakesAtMostHalfOfTheMemory) {
  EXPECT_EQ(*DefaultContext({.model_tokens = 8192, .bytes_per_token = 1000, .available_bytes = 2'000'000}), 1000);
  EXPECT_EQ(*DefaultContext({.model_tokens = 8192, .bytes_per_token = 1000, .available_bytes = 128'000}), 64);
  const Status status =
      DefaultContext({.model_tokens = 8192, .bytes_per_token = 1000, .available_bytes = 127'000}).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("64 tokens of 1000 bytes"));
}

TEST(MemoryFit, AContextBeyondTheModelsOwnIsRefusedWithBothNumbers) {
  const ContextFit fit{.model_tokens = 8192, .bytes_per_token = 1000, .available_bytes = int64_t{1} << 40};
  EXPECT_TRUE(CheckContext(8192, fit).ok());
  EXPECT_TRUE(CheckContext(1, fit).ok());
  for (const int64_t tokens : {int64_t{8193}, int64_t{0}, int64_t{-1}}) {
    const Status status = CheckContext(tokens, fit);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), "a context of " + std::to_string(tokens) + " tokens: the model takes 1 to 8192");
  }
}

TEST(MemoryFit, AContextBeyondTheMemoryIsRefusedWithWhatWouldFit) {
  const ContextFit fit{.model_tokens = 1 << 20, .bytes_per_token = 1 << 20, .available_bytes = int64_t{100} << 20};
  EXPECT_TRUE(CheckContext(100, fit).ok());
  const Status status = CheckContext(101, fit);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(
      status.message(),
      "KV cache: 101 tokens of 1048576 bytes need 101 MiB, 100 MiB of memory are available; 100 tokens would fit");
}

TEST(MemoryFit, ABudgetIsBytesOrAShareOfTheMachine) {
  EXPECT_EQ(*ParseMemoryBudget("80%", 1000), 800);
  EXPECT_EQ(*ParseMemoryBudget("2.5G", 0), int64_t{5} << 29);
  EXPECT_EQ(*ParseMemoryBudget("3m", 0), 3'000'000);
  EXPECT_EQ(*ParseMemoryBudget("512", 0), 512);
  for (const char* wrong : {"", "G", "0", "-1G", "101%", "0.5%", "80 %", "1T", "nan%", "inf"}) {
    EXPECT_EQ(ParseMemoryBudget(wrong, 1000).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(MemoryFit, TheCacheGetsWhatTheBudgetLeavesAndNoMoreThanIsOfUse) {
  EXPECT_EQ(*KvTokensWithin({.budget_bytes = 9'000, .used_bytes = 1'000, .bytes_per_token = 10, .most_tokens = 9999}),
            700);
  EXPECT_EQ(*KvTokensWithin({.budget_bytes = 9'000, .used_bytes = 1'000, .bytes_per_token = 10, .most_tokens = 100}),
            100);
  const Status status =
      KvTokensWithin({.budget_bytes = 1 << 20, .used_bytes = 2 << 20, .bytes_per_token = 10, .most_tokens = 100})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "KV cache: a memory budget of 1 MiB leaves 0 MiB beside the weights; 64 tokens of 10 bytes do not fit");
}

TEST(MemoryFit, AFileLargerThanTheMemoryIsRefused) {
  EXPECT_TRUE(CheckWeightsFit("m.gguf", 100, 100).ok());
  EXPECT_TRUE(CheckWeightsFit("m.gguf", 100, 0).ok());
  const Status status = CheckWeightsFit("m.gguf", size_t{40} << 30, int64_t{22} << 30);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "m.gguf: the file has 40960 MiB, 22528 MiB of memory are available");
}

}  // namespace
}  // namespace adit::engine
