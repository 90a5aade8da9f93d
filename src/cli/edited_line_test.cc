#include "cli/edited_line.h"

#include <gtest/gtest.h>

namespace adit::cli {
namespace {

TEST(EditedLine, InsertsAndDeletesWholeCharacters) {
  EditedLine line;
  line.Insert("a\u00e9\u4e2d");
  line.Left();
  line.Insert("\U0001f600");
  EXPECT_EQ(line.text(), "a\u00e9\U0001f600\u4e2d");
  line.DeleteBack();
  line.DeleteBack();
  EXPECT_EQ(line.text(), "a\u4e2d");
  line.DeleteForward();
  EXPECT_EQ(line.text(), "a");
  line.DeleteForward();
  line.DeleteBack();
  line.DeleteBack();
  EXPECT_EQ(line.text(), "");
  EXPECT_TRUE(line.at_end());
}

TEST(EditedLine, MovesByWordsAndDeletesThem) {
  EditedLine line;
  line.Set("one two  three");
  line.WordLeft();
  EXPECT_EQ(line.cursor(), 9u);
  line.DeleteWordBack();
  EXPECT_EQ(line.text(), "one three");
  line.WordRight();
  EXPECT_TRUE(line.at_end());
  line.Home();
  line.WordRight();
  EXPECT_EQ(line.cursor(), 3u);
  line.DeleteToEnd();
  EXPECT_EQ(line.text(), "one");
  line.Left();
  line.DeleteToStart();
  EXPECT_EQ(line.text(), "e");
  EXPECT_EQ(line.cursor(), 0u);
  line.Left();
  line.End();
  line.Right();
  EXPECT_TRUE(line.at_end());
}

TEST(TerminalColumns, CountsWideCharactersTwiceAndMarksNot) {
  EXPECT_EQ(TerminalColumns(""), 0u);
  EXPECT_EQ(TerminalColumns("abc"), 3u);
  EXPECT_EQ(TerminalColumns("\u4e2d\u6587"), 4u);
  EXPECT_EQ(TerminalColumns("e\u0301"), 1u);
  EXPECT_EQ(TerminalColumns("\U0001f600"), 2u);
}

TEST(LineHistory, GoesBackAndComesBackToWhatWasTyped) {
  LineHistory history;
  EXPECT_EQ(history.Older("x"), nullptr);
  for (const char* line : {"a", "b", "b", "", "c"}) history.Add(line);
  EXPECT_EQ(history.Newer(), nullptr);
  EXPECT_EQ(*history.Older("typed"), "c");
  EXPECT_EQ(*history.Older("c"), "b");
  EXPECT_EQ(*history.Older("b"), "a");
  EXPECT_EQ(history.Older("a"), nullptr);
  EXPECT_EQ(*history.Newer(), "b");
  EXPECT_EQ(*history.Newer(), "c");
  EXPECT_EQ(*history.Newer(), "typed");
  EXPECT_EQ(history.Newer(), nullptr);
  EXPECT_EQ(*history.Older("again"), "c");
  history.Restart();
  EXPECT_EQ(*history.Older(""), "c");
}

TEST(LineHistory, KeepsTheNewest) {
  LineHistory history;
  for (size_t i = 0; i < LineHistory::kMaxLines + 5; ++i) history.Add(std::to_string(i));
  std::string oldest;
  while (const std::string* line = history.Older("")) oldest = *line;
  EXPECT_EQ(oldest, "5");
}

}  // namespace
}  // namespace adit::cli
