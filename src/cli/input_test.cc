#include "cli/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "cli/signals.h"

namespace adit::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A pipe whose writing end is closed by the destructor or before.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(fds_), 0); }
  ~Pipe() {
    CloseWriter();
    ::close(fds_[0]);
  }
  int reader() const { return fds_[0]; }
  void Write(std::string_view text) {
    ASSERT_EQ(::write(fds_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void CloseWriter() {
    if (fds_[1] >= 0) ::close(fds_[1]);
    fds_[1] = -1;
  }

 private:
  int fds_[2];
};

std::vector<std::string> AllLines(LineReader& reader) {
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    const Result<LineReader::Outcome> outcome = reader.Next(line);
    if (!outcome.ok()) {
      lines.push_back(outcome.status().message());
    } else if (*outcome == LineReader::Outcome::kEnd) {
      return lines;
    } else {
      lines.push_back(line);
    }
  }
}

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  Pipe pipe;
  pipe.Write("one\n\ntwo\r\nthree");
  pipe.CloseWriter();
  LineReader reader(pipe.reader());
  EXPECT_THAT(AllLines(reader), ElementsAre("one", "", "two", "three"));
}

TEST(LineReader, GivesALineAsSoonAsItIsWhole) {
  Pipe pipe;
  LineReader reader(pipe.reader());
  std::string line;
  pipe.Write("first\nsec");
  ASSERT_EQ(*reader.Next(line), LineReader::Outcome::kLine);
  EXPECT_EQ(line, "first");
  pipe.Write("ond\n");
  ASSERT_EQ(*reader.Next(line), LineReader::Outcome::kLine);
  EXPECT_EQ(line, "second");
}

TEST(LineReader, SkipsALineThatIsTooLongAndSaysSo) {
  Pipe pipe;
  LineReader reader(pipe.reader(), 4);
  std::thread writer([&pipe] {
    pipe.Write("four\nfives\n" + std::string(300000, 'x') + "\nend\n");
    pipe.CloseWriter();
  });
  EXPECT_THAT(AllLines(reader),
              ElementsAre("four", HasSubstr("more than 4 bytes"), HasSubstr("more than 4 bytes"), "end"));
  writer.join();
}

TEST(LineReader, ReturnsWhenASignalIsNoted) {
  Pipe pipe;
  const InterruptScope scope;
  LineReader reader(pipe.reader());
  std::string line;
  ASSERT_EQ(std::raise(SIGINT), 0);
  EXPECT_EQ(*reader.Next(line, /*stop_on_signal=*/true), LineReader::Outcome::kInterrupted);
  ClearInterrupt();
  pipe.Write("on\n");
  ASSERT_EQ(*reader.Next(line, /*stop_on_signal=*/true), LineReader::Outcome::kLine);
  EXPECT_EQ(line, "on");
}

TEST(Input, ReadsToTheEnd) {
  Pipe pipe;
  const std::string text(200000, 'x');
  std::thread writer([&pipe, &text] {
    pipe.Write(text);
    pipe.CloseWriter();
  });
  const Result<std::string> read = ReadAll(pipe.reader(), "pipe");
  writer.join();
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, text);
}

TEST(Input, TellsWhetherThereIsSomethingToRead) {
  Pipe pipe;
  EXPECT_FALSE(HasInput(pipe.reader(), 0));
  pipe.Write("x");
  EXPECT_TRUE(HasInput(pipe.reader(), 0));
  Pipe closed;
  closed.CloseWriter();
  EXPECT_TRUE(HasInput(closed.reader(), 0));
}

TEST(Input, AFileThatCannotBeReadIsNamed) {
  const Status absent = ReadFileOrStdin("/absent/x").status();
  EXPECT_EQ(absent.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(absent.message(), "/absent/x: no such file");
  const Status folder = ReadFileOrStdin(::testing::TempDir()).status();
  EXPECT_EQ(folder.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(folder.message(), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace adit::cli
