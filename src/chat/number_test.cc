#include "chat/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace adit::chat {
namespace {

TEST(Number, WritesFloatsLikeRepr) {
  const std::pair<double, const char*> kCases[] = {{0.0, "0.0"},
                                                   {-0.0, "-0.0"},
                                                   {1.0, "1.0"},
                                                   {0.1, "0.1"},
                                                   {1e15, "1000000000000000.0"},
                                                   {1e16, "1e+16"},
                                                   {1.5e300, "1.5e+300"},
                                                   {0.0001, "0.0001"},
                                                   {0.00001, "1e-05"},
                                                   {123456.789, "123456.789"},
                                                   {-2.5, "-2.5"},
                                                   {5e-324, "5e-324"},
                                                   {0.1 + 0.2, "0.30000000000000004"}};
  for (const auto& [value, text] : kCases) EXPECT_EQ(FloatRepr(value), text);
  EXPECT_EQ(FloatRepr(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(FloatRepr(std::nan("")), "nan");
}

TEST(Number, ReadsIntegersLikeInt) {
  bool overflow = false;
  EXPECT_EQ(ParseInt(" -42 ", 10, &overflow), -42);
  EXPECT_EQ(ParseInt("1_000", 10, &overflow), 1000);
  EXPECT_EQ(ParseInt("0x_fF", 16, &overflow), 255);
  EXPECT_EQ(ParseInt("0b11", 0, &overflow), 3);
  EXPECT_EQ(ParseInt("٤٢", 10, &overflow), 42);
  EXPECT_EQ(ParseInt("-9223372036854775808", 10, &overflow), INT64_MIN);
  for (const char* bad : {"", " ", "-", "1__0", "_1", "1_", "1.0", "0x", "x", "010x", "é"}) {
    EXPECT_FALSE(ParseInt(bad, 10, &overflow)) << bad;
    EXPECT_FALSE(overflow) << bad;
  }
  EXPECT_FALSE(ParseInt("9223372036854775808", 10, &overflow));
  EXPECT_TRUE(overflow);
  EXPECT_FALSE(ParseInt("010", 0, &overflow));
}

TEST(Number, ReadsFloatsLikeFloat) {
  EXPECT_EQ(ParseFloat(" 1.5e3\n"), 1500.0);
  EXPECT_EQ(ParseFloat("+.5"), 0.5);
  EXPECT_EQ(ParseFloat("5."), 5.0);
  EXPECT_EQ(ParseFloat("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseFloat("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseFloat("1e-400"), 0.0);
  EXPECT_TRUE(std::isnan(ParseFloat("nan").value_or(0)));
  for (const char* bad : {"", "e5", "1e", "--1", "+-1", "0x10", "1 2", ".", "1_e5", "in"})
    EXPECT_FALSE(ParseFloat(bad)) << bad;
}

TEST(Number, RoundsTiesOfTheExactValueToEven) {
  EXPECT_EQ(RoundFloat(2.5, 0), 2.0);
  EXPECT_EQ(RoundFloat(3.5, 0), 4.0);
  EXPECT_EQ(RoundFloat(2.675, 2), 2.67);
  EXPECT_EQ(RoundFloat(1250.0, -2), 1200.0);
  EXPECT_EQ(RoundFloat(1e300, 400), 1e300);
  EXPECT_TRUE(std::signbit(RoundFloat(-0.4, 0)));
}

TEST(Number, DividesTowardsMinusInfinity) {
  EXPECT_EQ(FloorDivideInt(-7, 2), -4);
  EXPECT_EQ(FloorDivideInt(7, -2), -4);
  EXPECT_EQ(ModuloInt(-7, 3), 2);
  EXPECT_EQ(ModuloInt(7, -3), -2);
  EXPECT_FALSE(FloorDivideInt(INT64_MIN, -1));
  EXPECT_EQ(ModuloInt(INT64_MIN, -1), 0);
  EXPECT_EQ(FloorDivideFloat(-7.5, 2), -4.0);
  EXPECT_EQ(ModuloFloat(-7.5, 2), 0.5);
}

TEST(Number, ComparesIntegersWithFloatsExactly) {
  EXPECT_EQ(CompareIntFloat(9007199254740993, 9007199254740992.0), 1);
  EXPECT_EQ(CompareIntFloat(INT64_MAX, 9223372036854775808.0), -1);
  EXPECT_EQ(CompareIntFloat(2, 2.5), -1);
  EXPECT_EQ(CompareIntFloat(-2, -2.5), 1);
  EXPECT_EQ(CompareIntFloat(0, std::nan("")), 2);
}

TEST(Number, OverflowIsEmpty) {
  EXPECT_FALSE(AddInt(INT64_MAX, 1));
  EXPECT_FALSE(MultiplyInt(INT64_MAX, 2));
  EXPECT_FALSE(PowerInt(7, 1'000'000'000));
  EXPECT_EQ(PowerInt(-1, INT64_MAX), -1);
  EXPECT_FALSE(TruncateFloat(1e19));
}

}  // namespace
}  // namespace adit::chat
