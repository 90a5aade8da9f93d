#include "cli/date_time.h"

#include <gtest/gtest.h>

namespace adit::cli {
namespace {

TEST(DateTime, FillsAllFields) {
  const Result<std::tm> time = ParseDateTime("2024-07-26T12:34:56");
  ASSERT_TRUE(time.ok());
  EXPECT_EQ(time->tm_year, 124);
  EXPECT_EQ(time->tm_mon, 6);
  EXPECT_EQ(time->tm_mday, 26);
  EXPECT_EQ(time->tm_hour, 12);
  EXPECT_EQ(time->tm_min, 34);
  EXPECT_EQ(time->tm_sec, 56);
  EXPECT_EQ(time->tm_wday, 5);    // a Friday
  EXPECT_EQ(time->tm_yday, 207);  // 31+29+31+30+31+30 days, and 25 of July
}

TEST(DateTime, KnowsLeapYears) {
  EXPECT_TRUE(ParseDateTime("2024-02-29T00:00:00").ok());
  EXPECT_TRUE(ParseDateTime("2000-02-29T00:00:00").ok());
  EXPECT_FALSE(ParseDateTime("2023-02-29T00:00:00").ok());
  EXPECT_FALSE(ParseDateTime("1900-02-29T00:00:00").ok());
  EXPECT_EQ(ParseDateTime("2024-12-31T23:59:59")->tm_yday, 365);
}

TEST(DateTime, RefusesOtherForms) {
  for (const char* text :
       {"", "2024-07-26", "2024-07-26 12:34:56", "2024-07-26T12:34", "2024-7-26T12:34:56", "2024-07-26T12:34:56Z",
        "-024-07-26T12:34:56", "2024-00-10T00:00:00", "2024-13-10T00:00:00", "2024-07-32T00:00:00",
        "2024-07-26T24:00:00", "2024-07-26T12:60:00", "2024-07-26T12:00:60", "1899-07-26T12:00:00"}) {
    const Result<std::tm> time = ParseDateTime(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_EQ(time.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(time.status().message().find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace adit::cli
