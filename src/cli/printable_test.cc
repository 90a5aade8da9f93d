#include "cli/printable.h"

#include <gtest/gtest.h>

namespace adit::cli {
namespace {

TEST(Printable, KeepsTextLineFeedsAndTabs) {
  EXPECT_EQ(EscapeControls("Zoë says:\n\t\"hi\" 😀"), "Zoë says:\n\t\"hi\" 😀");
  EXPECT_EQ(EscapeControls(""), "");
}

TEST(Printable, MakesControlSequencesVisible) {
  EXPECT_EQ(EscapeControls("\x1b[2J\x1b]0;title\x07"), "^[[2J^[]0;title^G");
  EXPECT_EQ(EscapeControls("a\rb\bc\x7f"), "a^Mb^Hc^?");
  EXPECT_EQ(EscapeControls(std::string_view("\0", 1)), "^@");
}

TEST(Printable, MakesC1ControlsVisibleWhicheverWayTheyAreWritten) {
  EXPECT_EQ(EscapeControls("\xc2\x9b"
                           "31m"),
            "<U+009B>31m");
  EXPECT_EQ(EscapeControls("\x9b"
                           "31m"),
            "\xef\xbf\xbd"
            "31m");
}

TEST(Printable, PutsTextOnOneLine) {
  EXPECT_EQ(OneLine("a\nb\tc\x1b"), "a\\nb\\tc^[");
  EXPECT_EQ(OneLine("abcdef", 6), "abcdef");
  EXPECT_EQ(OneLine("abcdefg", 6), "abcdef...");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(OneLine("aé", 2), "a...");
  EXPECT_EQ(OneLine("a\n", 2), "a...");
}

}  // namespace
}  // namespace adit::cli
