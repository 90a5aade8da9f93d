#include "adit/status.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"

namespace adit {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("half: {} is odd", value);
  return value / 2;
}

Status CheckQuarter(int value, int* quarter) {
  ADIT_ASSIGN_OR_RETURN(const int half, Half(value));
  ADIT_ASSIGN_OR_RETURN(*quarter, Half(half));
  return Status();
}

TEST(Status, CarriesCodeAndMessage) {
  const Status status = Corrupt("gguf: {}: version {}", "a.gguf", 7);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.ToString(), "corrupt: gguf: a.gguf: version 7");
  EXPECT_EQ(Status().ToString(), "ok");
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(Half(4).value(), 2);
  EXPECT_EQ(Half(3).status().message(), "half: 3 is odd");
  EXPECT_TRUE(Half(4).status().ok());
}

TEST(Result, MacrosPassErrorsOn) {
  int quarter = 0;
  EXPECT_TRUE(CheckQuarter(8, &quarter).ok());
  EXPECT_EQ(quarter, 2);
  EXPECT_EQ(CheckQuarter(6, &quarter).message(), "half: 3 is odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 5);
}

TEST(Result, ThrowsOnlyWhenAsked) { EXPECT_THROW(Half(1).value_or_throw(), std::runtime_error); }

}  // namespace
}  // namespace adit
