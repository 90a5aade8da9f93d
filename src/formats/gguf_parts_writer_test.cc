#include "formats/gguf_parts_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/gguf.h"

namespace adit::formats {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class GgufPartsWriterTest : public ::testing::Test {
 protected:
  GgufPartsWriterTest()
      : folder_(::testing::TempDir() + "gguf_parts_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~GgufPartsWriterTest() override { std::filesystem::remove_all(folder_); }

  // Tensors of 16, 32, 16 and 100 bytes.
  static std::vector<GgufTensorPlan> Plans() {
    std::vector<GgufTensorPlan> plans;
    for (const auto& [name, size] : {std::pair("a", 4), std::pair("b", 8), std::pair("c", 4), std::pair("d", 25)}) {
      plans.push_back({.name = name, .dtype = DType::kF32, .rank = 1, .shape = {size, 1, 1, 1}});
    }
    return plans;
  }
  Result<GgufPartsWriter> Create(size_t max_part_bytes) const {
    const std::map<std::string, GgufValue, std::less<>> values = {
        {"general.architecture", {.type = GgufType::kString, .value = std::string("llama")}}};
    return GgufPartsWriter::Create(folder_ + "/m.gguf", values, Plans(), max_part_bytes);
  }
  static std::vector<std::byte> Contents(const GgufTensorPlan& plan) {
    std::vector<float> values(static_cast<size_t>(plan.shape[0]), static_cast<float>(plan.name[0]));
    std::vector<std::byte> bytes(plan.size_bytes());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  void ExpectAll(const std::string& name) const {
    const auto file = GgufFile::Open(folder_ + "/" + name);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(*(*file)->metadata().GetString("general.architecture"), "llama");
    for (const GgufTensorPlan& plan : Plans()) {
      const TensorInfo* tensor = (*file)->Find(plan.name);
      ASSERT_NE(tensor, nullptr) << plan.name;
      const std::vector<std::byte> want = Contents(plan);
      EXPECT_TRUE(std::equal(want.begin(), want.end(), tensor->data.begin(), tensor->data.end())) << plan.name;
    }
  }

  std::string folder_;
};

TEST_F(GgufPartsWriterTest, PartsOpenByAnyOfTheirNames) {
  Result<GgufPartsWriter> writer = Create(/*max_part_bytes=*/50);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  for (const GgufTensorPlan& plan : Plans()) ASSERT_TRUE(writer->Append(Contents(plan)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"));
  for (const std::string& name : Names()) ExpectAll(name);
}

TEST_F(GgufPartsWriterTest, WhatFitsIsOneFile) {
  for (const size_t max_part_bytes : {size_t{0}, size_t{164}}) {
    Result<GgufPartsWriter> writer = Create(max_part_bytes);
    ASSERT_TRUE(writer.ok());
    for (const GgufTensorPlan& plan : Plans()) ASSERT_TRUE(writer->Append(Contents(plan)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_THAT(Names(), UnorderedElementsAre("m.gguf"));
    ExpectAll("m.gguf");
  }
}

TEST_F(GgufPartsWriterTest, NoPartAppearsBeforeAllAreWhole) {
  {
    Result<GgufPartsWriter> writer = Create(/*max_part_bytes=*/50);
    ASSERT_TRUE(writer.ok());
    for (size_t i = 0; i < 3; ++i) ASSERT_TRUE(writer->Append(Contents(Plans()[i])).ok());
    for (const std::string& name : Names()) EXPECT_THAT(name, HasSubstr(".tmp"));
    EXPECT_THAT(writer->Finish().message(), HasSubstr("part 3 lacks 100 bytes"));
  }
  EXPECT_TRUE(Names().empty());
}

}  // namespace
}  // namespace adit::formats
