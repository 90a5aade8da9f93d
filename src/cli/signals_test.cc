#include "cli/signals.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>

namespace adit::cli {
namespace {

bool IsReadable(int fd) {
  struct pollfd descriptor = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

TEST(Signals, AreNotedUntilTheyAreCleared) {
  const InterruptScope scope;
  EXPECT_EQ(PendingInterrupt(), 0);
  EXPECT_FALSE(IsReadable(InterruptDescriptor()));
  ASSERT_EQ(std::raise(SIGINT), 0);
  EXPECT_EQ(PendingInterrupt(), SIGINT);
  EXPECT_TRUE(IsReadable(InterruptDescriptor()));
  ClearInterrupt();
  EXPECT_EQ(PendingInterrupt(), 0);
  EXPECT_FALSE(IsReadable(InterruptDescriptor()));
  ASSERT_EQ(std::raise(SIGINT), 0);
  EXPECT_EQ(PendingInterrupt(), SIGINT);
}

TEST(Signals, OneOfTheListedKindsIsNoted) {
  const InterruptScope scope{SIGINT, SIGTERM};
  ASSERT_EQ(std::raise(SIGTERM), 0);
  EXPECT_EQ(PendingInterrupt(), SIGTERM);
}

TEST(SignalsDeathTest, ASecondOneEndsTheProgram) {
  EXPECT_EXIT(
      {
        const InterruptScope scope;
        (void)std::raise(SIGINT);
        (void)std::raise(SIGINT);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST(SignalsDeathTest, DoWhatTheyDidOnceTheScopeHasEnded) {
  EXPECT_EXIT(
      {
        { const InterruptScope scope; }
        (void)std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace adit::cli
