#include "cli/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/exit_code.h"

namespace adit::cli {
namespace {

using ::testing::HasSubstr;

TEST(ModelFile, AFileThatIsNotThereIsNotFound) {
  const Status status = CheckModelPath("/absent/m.gguf");
  EXPECT_EQ(ExitCodeOf(status.code()), kExitModelNotFound);
  EXPECT_THAT(status.message(), HasSubstr("model '/absent/m.gguf' not found: no such file; MODEL is the path"));
}

TEST(ModelFile, ANameIsNoPath) {
  for (const char* name : {"smollm2", "HuggingFaceTB/SmolLM2-135M", "org/name:Q4_K_M@main"}) {
    const Status status = CheckModelPath(name);
    EXPECT_EQ(ExitCodeOf(status.code()), kExitModelNotFound);
    EXPECT_THAT(status.message(), HasSubstr("no such model in the store"));
    EXPECT_THAT(status.message(), HasSubstr("scripts/get-model"));
  }
}

TEST(ModelFile, AFolderIsAWrongArgument) {
  const Status status = CheckModelPath(::testing::TempDir());
  EXPECT_EQ(ExitCodeOf(status.code()), kExitUsage);
  EXPECT_THAT(status.message(), HasSubstr("is a folder"));
}

TEST(ModelFile, ABrokenFileIsARuntimeError) {
  const std::string path = ::testing::TempDir() + "model_file_test_broken.gguf";
  std::ofstream(path) << "GGUF but no more";
  ASSERT_TRUE(CheckModelPath(path).ok());
  const Status status = OpenModel(path).status();
  EXPECT_EQ(ExitCodeOf(status.code()), kExitRuntime);
  EXPECT_THAT(status.message(), HasSubstr(path));
}

TEST(ModelFile, WhatIsMissingInsideAFileMakesItCorrupt) {
  EXPECT_EQ(InsideModel(Status(StatusCode::kNotFound, "key")).code(), StatusCode::kCorrupt);
  EXPECT_EQ(InsideModel(Status(StatusCode::kUnsupported, "type")).code(), StatusCode::kUnsupported);
  EXPECT_TRUE(InsideModel(Status()).ok());
}

}  // namespace
}  // namespace adit::cli
