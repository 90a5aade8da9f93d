#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace adit::cli {
namespace {

TEST(ExitCode, TellsUsageModelAndMemoryFromTheRest) {
  EXPECT_EQ(ExitCodeOf(StatusCode::kOk), 0);
  EXPECT_EQ(ExitCodeOf(StatusCode::kInvalidArgument), 2);
  EXPECT_EQ(ExitCodeOf(StatusCode::kNotFound), 3);
  EXPECT_EQ(ExitCodeOf(StatusCode::kResourceExhausted), 4);
  for (const StatusCode code :
       {StatusCode::kCorrupt, StatusCode::kUnsupported, StatusCode::kFailedPrecondition, StatusCode::kCancelled,
        StatusCode::kDeadlineExceeded, StatusCode::kIo, StatusCode::kInternal}) {
    EXPECT_EQ(ExitCodeOf(code), 5) << StatusCodeName(code);
  }
}

TEST(ExitCode, ARuntimeErrorIsOneWhateverItWasCalled) {
  for (const StatusCode code :
       {StatusCode::kInvalidArgument, StatusCode::kNotFound, StatusCode::kResourceExhausted, StatusCode::kIo}) {
    const Status status = AsRuntimeError(Status(code, "why"));
    EXPECT_EQ(ExitCodeOf(status.code()), 5);
    EXPECT_EQ(status.message(), "why");
  }
  EXPECT_EQ(AsRuntimeError(Status(StatusCode::kIo, "why")).code(), StatusCode::kIo);
}

TEST(ExitCode, AnErrorIsOneLineOnStderr) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ReportError(Status(StatusCode::kNotFound, "no 'a\nb\x1b[2J'")), 3);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "adit: no 'a\\nb^[[2J'\n");
}

}  // namespace
}  // namespace adit::cli
