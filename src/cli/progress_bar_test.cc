#include "cli/progress_bar.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace adit::cli {
namespace {

TEST(ProgressBar, ShowsTheShareThatIsDone) {
  EXPECT_EQ(ProgressLine("Loading", 0.0), "Loading  [                                        ]   0 %");
  EXPECT_EQ(ProgressLine("Loading", 0.5), "Loading  [####################                    ]  50 %");
  EXPECT_EQ(ProgressLine("Loading", 1.0), "Loading  [########################################] 100 %");
  EXPECT_EQ(ProgressLine("Loading", 7.0), ProgressLine("Loading", 1.0));
  EXPECT_EQ(ProgressLine("Loading", -1.0), ProgressLine("Loading", 0.0));
  EXPECT_EQ(ProgressLine("Loading", 0.5, "3 of 6"), ProgressLine("Loading", 0.5) + "  3 of 6");
}

// What a program writes to a terminal while a bar lives and has been told of some work.
std::string DrawnOnTerminal(std::chrono::milliseconds delay) {
  int terminal = -1;
  int program = -1;
  EXPECT_EQ(::openpty(&terminal, &program, nullptr, nullptr, nullptr), 0);
  Output out(program, "terminal");
  {
    ProgressBar bar(out, "Loading", delay);
    bar.Update(0.5);
    bar.Update(0.6);  // too soon to draw again
  }
  EXPECT_TRUE(out.Write("end").ok());
  std::string drawn;
  char byte = 0;
  while (!drawn.ends_with("end") && ::read(terminal, &byte, 1) == 1) drawn += byte;
  ::close(terminal);
  ::close(program);
  return drawn;
}

TEST(ProgressBar, IsDrawnOverItselfAndTakenAway) {
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(DrawnOnTerminal(std::chrono::milliseconds(0)), "\r\x1b[K" + ProgressLine("Loading", 0.5) + "\r\x1b[Kend");
  EXPECT_EQ(DrawnOnTerminal(std::chrono::hours(1)), "end");
}

TEST(ProgressBar, StaysOffATerminalThatWantsNoControlSequences) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(DrawnOnTerminal(std::chrono::milliseconds(0)), "end");
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_EQ(DrawnOnTerminal(std::chrono::milliseconds(0)), "end");
}

TEST(ProgressBar, DrawsNothingIntoAPipe) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  Output out(fds[1], "pipe");
  {
    ProgressBar bar(out, "Loading");
    bar.Update(0.5);
  }
  ::close(fds[1]);
  char byte = 0;
  EXPECT_EQ(::read(fds[0], &byte, 1), 0);
  ::close(fds[0]);
}

}  // namespace
}  // namespace adit::cli
