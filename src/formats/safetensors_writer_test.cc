#include "formats/safetensors_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "support/safetensors_reader.h"

namespace adit::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An empty folder of the test's own.
std::string FreshFolder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "safetensors_writer_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

int64_t NumFiles(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result<SafetensorsWriter> CreateMatrix(const std::string& path, int64_t rows, int64_t cols) {
  const int64_t shape[] = {rows, cols};
  return SafetensorsWriter::Create(path, "logits", shape);
}

TEST(SafetensorsWriter, WritesWhatAReaderReads) {
  const std::string path = FreshFolder("reads") + "/x.safetensors";
  Result<SafetensorsWriter> writer = CreateMatrix(path, 2, 3);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  ASSERT_TRUE(writer->Append(std::vector<float>{1, 2, 3, 4}).ok());
  ASSERT_TRUE(writer->Append(std::vector<float>{5, -6.5f}).ok());
  ASSERT_TRUE(writer->Finish().ok());

  const Result<test::TestTensors> tensors = test::ReadSafetensors(path);
  ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
  ASSERT_EQ(tensors->size(), 1u);
  const test::TestTensor& tensor = tensors->at("logits");
  EXPECT_EQ(tensor.dtype, "F32");
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
  EXPECT_THAT(tensor.Floats(), ElementsAre(1, 2, 3, 4, 5, -6.5f));
}

TEST(SafetensorsWriter, BeginsTheElementsAtAMultipleOfEight) {
  const std::string folder = FreshFolder("aligned");
  for (int64_t cols : {1, 10, 100, 1000, 10000}) {
    const std::string path = folder + "/x.safetensors";
    Result<SafetensorsWriter> writer = CreateMatrix(path, 1, cols);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(std::vector<float>(static_cast<size_t>(cols))).ok());
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_EQ((ReadAll(path).size() - static_cast<size_t>(cols) * sizeof(float)) % 8, 0u) << cols;
  }
}

TEST(SafetensorsWriter, ShowsTheFileOnlyWhenItIsWhole) {
  const std::string folder = FreshFolder("whole");
  const std::string path = folder + "/x.safetensors";
  std::ofstream(path) << "what was there";
  {
    Result<SafetensorsWriter> writer = CreateMatrix(path, 1, 2);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(std::vector<float>{1}).ok());
    EXPECT_EQ(ReadAll(path), "what was there");
    EXPECT_EQ(NumFiles(folder), 2);
  }
  EXPECT_EQ(ReadAll(path), "what was there");
  EXPECT_EQ(NumFiles(folder), 1);
}

TEST(SafetensorsWriter, ReplacesAFileAndLeavesNothingBeside) {
  const std::string folder = FreshFolder("replaces");
  const std::string path = folder + "/x.safetensors";
  std::ofstream(path) << "what was there";
  Result<SafetensorsWriter> writer = CreateMatrix(path, 1, 1);
  ASSERT_TRUE(writer.ok());
  SafetensorsWriter moved = std::move(*writer);
  ASSERT_TRUE(moved.Append(std::vector<float>{1}).ok());
  ASSERT_TRUE(moved.Finish().ok());
  EXPECT_THAT(ReadAll(path), HasSubstr(R"({"logits":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})"));
  EXPECT_EQ(NumFiles(folder), 1);
}

TEST(SafetensorsWriter, KeepsALinkAndReplacesWhatItNames) {
  const std::string folder = FreshFolder("link");
  std::ofstream(folder + "/real") << "old";
  std::filesystem::create_symlink("real", folder + "/link");
  Result<SafetensorsWriter> writer = CreateMatrix(folder + "/link", 0, 4);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/link"));
  EXPECT_THAT(ReadAll(folder + "/real"), HasSubstr("\"shape\":[0,4]"));
}

TEST(SafetensorsWriter, WritesStraightToWhatIsNoFile) {
  Result<SafetensorsWriter> writer = CreateMatrix("/dev/null", 1, 1);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append(std::vector<float>{1}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(SafetensorsWriter, GivesTheFileTheModeThatTheUserAskedFor) {
  const std::string path = FreshFolder("mode") + "/x.safetensors";
  const mode_t before = ::umask(027);
  Result<SafetensorsWriter> writer = CreateMatrix(path, 0, 1);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Finish().ok());
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(path).permissions(), static_cast<std::filesystem::perms>(0640));
}

TEST(SafetensorsWriter, RefusesMoreOrFewerElementsThanTheShapeHas) {
  const std::string folder = FreshFolder("count");
  Result<SafetensorsWriter> writer = CreateMatrix(folder + "/x", 1, 2);
  ASSERT_TRUE(writer.ok());
  const Status more = writer->Append(std::vector<float>{1, 2, 3});
  EXPECT_EQ(more.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(more.message(), HasSubstr("3 elements appended, the shape has room for 2"));
  EXPECT_THAT(writer->Finish().message(), HasSubstr("2 elements are missing"));
  ASSERT_TRUE(writer->Append(std::vector<float>{1, 2}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(writer->Append({}).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer->Finish().code(), StatusCode::kFailedPrecondition);
}

TEST(SafetensorsWriter, RefusesNamesAndShapesThatTheHeaderCannotHold) {
  const std::string path = FreshFolder("names") + "/x";
  const int64_t one[] = {1};
  for (const char* name : {"", "a\"b", "a b", "\n"}) {
    EXPECT_EQ(SafetensorsWriter::Create(path, name, one).status().code(), StatusCode::kInvalidArgument) << name;
  }
  const int64_t negative[] = {-1};
  EXPECT_THAT(SafetensorsWriter::Create(path, "x", negative).status().message(), HasSubstr("dimension -1"));
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_THAT(SafetensorsWriter::Create(path, "x", huge).status().message(), HasSubstr("more than 2^63 - 1 elements"));
  const int64_t wide[] = {int64_t{1} << 62};
  EXPECT_THAT(SafetensorsWriter::Create(path, "x", wide).status().message(), HasSubstr("more than 2^63 - 1 bytes"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SafetensorsWriter, SaysWhatTheSystemRefuses) {
  const std::string folder = FreshFolder("refused");
  const Status absent = CreateMatrix(folder + "/absent/x", 1, 1).status();
  EXPECT_EQ(absent.code(), StatusCode::kIo);
  EXPECT_THAT(absent.message(), HasSubstr("/absent/x: cannot create a file beside it: No such file"));
  const Status is_folder = CreateMatrix(folder, 1, 1).status();
  EXPECT_EQ(is_folder.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(is_folder.message(), HasSubstr("is a folder"));
  EXPECT_EQ(CreateMatrix("/dev/full", 1, 1).status().code(), StatusCode::kIo);
}

}  // namespace
}  // namespace adit::formats
