#include "cli/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

namespace adit::cli {
namespace {

using ::testing::HasSubstr;

std::string ReadUpTo(int fd, size_t size) {
  std::string text(size, '\0');
  size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(fd, text.data() + got, size - got);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return text;
}

TEST(Output, WritesModelTextAsItIsIntoAPipe) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  Output output(fds[1], "pipe");
  EXPECT_FALSE(output.is_terminal());
  ASSERT_TRUE(output.WriteText("a\x1b[1m\xff\r").ok());
  EXPECT_EQ(ReadUpTo(fds[0], 7), "a\x1b[1m\xff\r");
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST(Output, MakesControlsVisibleOnATerminal) {
  int terminal = -1;
  int program = -1;
  ASSERT_EQ(::openpty(&terminal, &program, nullptr, nullptr, nullptr), 0) << std::strerror(errno);
  Output output(program, "terminal");
  EXPECT_TRUE(output.is_terminal());
  ASSERT_TRUE(output.WriteText("a\x1b[1m").ok());
  EXPECT_EQ(ReadUpTo(terminal, 6), "a^[[1m");
  ::close(terminal);
  ::close(program);
}

TEST(Output, WaitsForAReaderThatIsSlow) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_NONBLOCK), 0);
  const std::string text(1 << 20, 'x');
  std::thread writer([&] {
    Output output(fds[1], "pipe");
    EXPECT_TRUE(output.Write(text).ok());
    ::close(fds[1]);
  });
  ASSERT_EQ(::fcntl(fds[0], F_SETFL, 0), 0);
  EXPECT_EQ(ReadUpTo(fds[0], text.size() + 1).size(), text.size());
  writer.join();
  ::close(fds[0]);
}

TEST(Output, SaysWhatTheSystemRefuses) {
  const int fd = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  const Status status = Output(fd, "stdout").Write("x");
  ::close(fd);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_THAT(status.message(), HasSubstr("cannot write to stdout: No space left"));
}

TEST(OutputDeathTest, EndsQuietlyWhenTheReaderHasGone) {
  EXPECT_EXIT(
      {
        std::signal(SIGPIPE, SIG_IGN);
        int fds[2];
        if (::pipe(fds) == 0) ::close(fds[0]);
        (void)Output(fds[1], "pipe").Write("x");
      },
      ::testing::ExitedWithCode(141), "^$");
}

TEST(OutputDeathTest, ClosedDescriptorsStayUnusable) {
  EXPECT_EXIT(
      {
        ::close(0);
        ::close(1);
        OccupyStandardDescriptors();
        char byte = 0;
        const bool occupied = ::fcntl(0, F_GETFD) >= 0 && ::fcntl(1, F_GETFD) >= 0;
        const bool unusable = ::read(0, &byte, 1) < 0 && ::write(1, &byte, 1) < 0;
        ::_exit(occupied && unusable ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace adit::cli
