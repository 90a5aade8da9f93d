#include "formats/quoted.h"

#include <gtest/gtest.h>

namespace adit::formats {
namespace {

TEST(Quoted, KeepsPrintableAscii) {
  EXPECT_EQ(Quoted("blk.0.attn_q.weight"), "'blk.0.attn_q.weight'");
  EXPECT_EQ(Quoted(""), "''");
  EXPECT_EQ(Quoted(" ~"), "' ~'");
}

TEST(Quoted, EscapesEveryOtherByte) {
  EXPECT_EQ(Quoted(std::string_view("a\0\n\x1b\x7f\xff", 6)), "'a\\x00\\x0a\\x1b\\x7f\\xff'");
  EXPECT_EQ(Quoted("\xc3\xa9"), "'\\xc3\\xa9'");
}

TEST(Quoted, CutsLongNames) {
  EXPECT_EQ(Quoted(std::string(80, 'x')), "'" + std::string(80, 'x') + "'");
  EXPECT_EQ(Quoted(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
}

TEST(IsPrintableAscii, RefusesControlAndHighBytes) {
  EXPECT_TRUE(IsPrintableAscii("general.name"));
  EXPECT_TRUE(IsPrintableAscii(""));
  EXPECT_FALSE(IsPrintableAscii("a\tb"));
  EXPECT_FALSE(IsPrintableAscii("a\x7f"));
  EXPECT_FALSE(IsPrintableAscii("caf\xc3\xa9"));
}

}  // namespace
}  // namespace adit::formats
