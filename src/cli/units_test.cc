#include "cli/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Units, ParsesWholeNumbersWithUnits) {
  EXPECT_EQ(*ParseCount("0"), 0);
  EXPECT_EQ(*ParseCount("-1"), -1);
  EXPECT_EQ(*ParseCount("010"), 10);
  EXPECT_EQ(*ParseCount("4k"), 4000);
  EXPECT_EQ(*ParseCount("4K"), 4096);
  EXPECT_EQ(*ParseCount("2m"), 2'000'000);
  EXPECT_EQ(*ParseCount("2M"), 2 << 20);
  EXPECT_EQ(*ParseCount("1g"), 1'000'000'000);
  EXPECT_EQ(*ParseCount("1G"), 1 << 30);
  EXPECT_EQ(*ParseCount("9223372036854775807"), INT64_MAX);
}

TEST(Units, RefusesWhatIsNoWholeNumber) {
  for (const char* text : {"", "x", "1.5", "1 ", " 1", "1kk", "1KB", "k", "--1", "0x10", "+1"}) {
    const Result<int64_t> count = ParseCount(text);
    ASSERT_FALSE(count.ok()) << text;
    EXPECT_EQ(count.status().message(), std::string("'") + text + "' is no whole number");
  }
  EXPECT_THAT(ParseCount("9223372036854775808").status().message(), HasSubstr("too large"));
  EXPECT_THAT(ParseCount("9223372036854775807k").status().message(), HasSubstr("too large"));
}

TEST(Units, ParsesIdsHoweverTheyAreSeparated) {
  EXPECT_THAT(*ParseIds("1,2,3"), ElementsAre(1, 2, 3));
  EXPECT_THAT(*ParseIds(" 1 2\n3\t,4,\r\n"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*ParseIds("[1, 2]\n"), ElementsAre(1, 2));
  EXPECT_THAT(*ParseIds("2147483647"), ElementsAre(2147483647));
  EXPECT_THAT(*ParseIds(""), IsEmpty());
  EXPECT_THAT(*ParseIds("[]"), IsEmpty());
}

TEST(Units, NamesTheWordThatIsNoId) {
  for (const char* word : {"x", "-1", "1.5", "2147483648", "1]", "[1"}) {
    const Status status = ParseIds(std::string("7 ") + word + " 8").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(std::string("'") + word + "' is no token id"));
  }
}

TEST(Units, JoinsIds) {
  const int32_t ids[] = {5, 0, 12};
  EXPECT_EQ(JoinIds(ids), "5 0 12");
  EXPECT_EQ(JoinIds({}), "");
}

TEST(Units, FormatsForPeople) {
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(98362432), "93.8 MiB");
  EXPECT_EQ(FormatBytes(int64_t{3} << 30), "3.00 GiB");
  EXPECT_EQ(FormatCount(9999), "9999");
  EXPECT_EQ(FormatCount(10000), "10.0 k");
  EXPECT_EQ(FormatCount(134515008), "134.5 M");
  EXPECT_EQ(FormatCount(1543714304), "1.54 G");
}

}  // namespace
}  // namespace adit::cli
