#include "formats/model_folder_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "formats/safetensors.h"

namespace adit::formats {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ModelFolderWriterTest : public ::testing::Test {
 protected:
  ModelFolderWriterTest()
      : parent_(::testing::TempDir() + "model_folder_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        path_(parent_ + "/model") {
    std::filesystem::remove_all(parent_);
    std::filesystem::create_directory(parent_);
  }
  ~ModelFolderWriterTest() override { std::filesystem::remove_all(parent_); }

  static SafetensorsPlan Plan(const char* name, const char* type, std::vector<int64_t> shape) {
    return {.name = name, .type = FindSafetensorsType(type), .shape = std::move(shape)};
  }
  // A tensor of odd size first, so that those behind it would not be aligned.
  static std::vector<SafetensorsPlan> Plans() {
    return {Plan("a", "I8", {3, 1}), Plan("b", "I64", {2}), Plan("c", "BF16", {5}), Plan("d", "F32", {2, 2})};
  }
  // Bytes that tell which tensor they are of.
  static std::vector<std::byte> Contents(size_t tensor, const SafetensorsPlan& plan) {
    std::vector<std::byte> bytes(plan.size_bytes());
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(16 * (tensor + 1) + i % 16);
    return bytes;
  }
  static void AppendAll(ModelFolderWriter& writer, const std::vector<SafetensorsPlan>& plans) {
    for (size_t i = 0; i < plans.size(); ++i) {
      const std::vector<std::byte> bytes = Contents(i, plans[i]);
      const std::span<const std::byte> all(bytes);
      ASSERT_TRUE(writer.Append(all.first(1)).ok());
      ASSERT_TRUE(writer.Append(all.subspan(1)).ok());
    }
  }
  void ExpectContents(const std::vector<SafetensorsPlan>& plans) const {
    const Result<SafetensorsFolder> read = SafetensorsFolder::Open(path_);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    for (size_t i = 0; i < plans.size(); ++i) {
      const SafetensorsTensor* tensor = read->Find(plans[i].name).tensor;
      ASSERT_NE(tensor, nullptr) << plans[i].name;
      EXPECT_EQ(tensor->type, plans[i].type);
      EXPECT_EQ(tensor->shape, plans[i].shape);
      EXPECT_TRUE(std::ranges::equal(tensor->data, Contents(i, plans[i]))) << plans[i].name;
      // Mappings begin at pages, so this is the place in the file.
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data.data()) % static_cast<size_t>(tensor->type->element_bytes),
                0u);
    }
  }
  std::vector<std::string> Names(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::string parent_;
  std::string path_;
};

TEST_F(ModelFolderWriterTest, WritesWhatAReaderReads) {
  Result<ModelFolderWriter> writer = ModelFolderWriter::Create(path_, Plans());
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  ASSERT_TRUE(writer->WriteFile("config.json", "{}").ok());
  AppendAll(*writer, Plans());
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_THAT(Names(path_), UnorderedElementsAre("config.json", "model.safetensors"));
  ExpectContents(Plans());
}

TEST_F(ModelFolderWriterTest, CutsLargeModelsIntoFilesWithAnIndex) {
  Result<ModelFolderWriter> writer = ModelFolderWriter::Create(path_, Plans(), /*max_file_bytes=*/20);
  ASSERT_TRUE(writer.ok());
  AppendAll(*writer, Plans());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_THAT(Names(path_), UnorderedElementsAre("model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                                 "model-00003-of-00003.safetensors", "model.safetensors.index.json"));
  ExpectContents(Plans());
}

TEST_F(ModelFolderWriterTest, LeavesNothingThatIsNotWhole) {
  {
    Result<ModelFolderWriter> writer = ModelFolderWriter::Create(path_, Plans());
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(Contents(0, Plans()[0])).ok());
    const Status finished = writer->Finish();
    EXPECT_EQ(finished.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(finished.message(), HasSubstr("'b'"));
    EXPECT_EQ(Names(parent_).size(), 1u);
  }
  EXPECT_TRUE(Names(parent_).empty());
}

TEST_F(ModelFolderWriterTest, TakesNoMoreThanATensorHas) {
  Result<ModelFolderWriter> writer = ModelFolderWriter::Create(path_, Plans());
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer->Append(std::vector<std::byte>(4)).code(), StatusCode::kFailedPrecondition);
}

TEST_F(ModelFolderWriterTest, ReplacesNoFolderThatHasSomething) {
  std::filesystem::create_directory(path_);
  ASSERT_TRUE(ModelFolderWriter::Create(path_, Plans()).ok());
  std::ofstream(path_ + "/notes.txt") << "mine";
  const auto refused = ModelFolderWriter::Create(path_, Plans());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("not empty"));
  EXPECT_THAT(Names(path_), UnorderedElementsAre("notes.txt"));
}

TEST_F(ModelFolderWriterTest, PutsTheFolderIntoAnEmptyOne) {
  std::filesystem::create_directory(path_);
  Result<ModelFolderWriter> writer = ModelFolderWriter::Create(path_ + "/", Plans());
  ASSERT_TRUE(writer.ok());
  AppendAll(*writer, Plans());
  ASSERT_TRUE(writer->Finish().ok());
  ExpectContents(Plans());
}

TEST_F(ModelFolderWriterTest, RefusesNamesThatAreGivenTwice) {
  std::vector<SafetensorsPlan> plans = Plans();
  plans.push_back(plans.front());
  EXPECT_THAT(ModelFolderWriter::Create(path_, plans).status().message(), HasSubstr("'a'"));
}

}  // namespace
}  // namespace adit::formats
