#include "formats/gguf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "formats/gguf.h"

namespace adit::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::map<std::string, GgufValue, std::less<>>;

class GgufWriterTest : public testing::Test {
 protected:
  GgufWriterTest()
      : path_(testing::TempDir() + "writer_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(path_);
  }
  ~GgufWriterTest() override { std::filesystem::remove(path_); }

  Status Write(const Values& values, const std::vector<GgufTensorPlan>& plans,
               const std::vector<std::vector<std::byte>>& pieces) const {
    ADIT_ASSIGN_OR_RETURN(GgufWriter writer, GgufWriter::Create(path_, values, plans));
    for (const auto& piece : pieces) ADIT_RETURN_IF_ERROR(writer.Append(piece));
    return writer.Finish();
  }

  std::string path_;
};

std::vector<std::byte> BytesOf(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

TEST_F(GgufWriterTest, WhatItWritesReadsBack) {
  const Values values = {
      {"a.u8", {.type = GgufType::kU8, .value = uint64_t{255}}},
      {"a.i16", {.type = GgufType::kI16, .value = int64_t{-2}}},
      {"a.u64", {.type = GgufType::kU64, .value = uint64_t{1} << 40}},
      {"a.f32", {.type = GgufType::kF32, .value = 0.5}},
      {"a.f64", {.type = GgufType::kF64, .value = 0.1}},
      {"a.bool", {.type = GgufType::kBool, .value = true}},
      {"a.text", {.type = GgufType::kString, .value = std::string("h\xc3\xa9")}},
      {"a.texts",
       {.type = GgufType::kArray, .element_type = GgufType::kString, .value = std::vector<std::string>{"x", ""}}},
      {"a.ints", {.type = GgufType::kArray, .element_type = GgufType::kI32, .value = std::vector<int64_t>{-1, 2}}},
      {"a.floats", {.type = GgufType::kArray, .element_type = GgufType::kF32, .value = std::vector<double>{0.5, 2}}},
      {"a.bools", {.type = GgufType::kArray, .element_type = GgufType::kBool, .value = std::vector<bool>{true, false}}},
      {"general.architecture", {.type = GgufType::kString, .value = std::string("llama")}}};
  const std::vector<GgufTensorPlan> plans = {{.name = "m", .dtype = DType::kF32, .rank = 2, .shape = {2, 3, 1, 1}},
                                             {.name = "v", .dtype = DType::kF32, .rank = 1, .shape = {5, 1, 1, 1}}};
  // The matrix in two pieces; 24 bytes are no multiple of the alignment.
  ASSERT_TRUE(Write(values, plans, {BytesOf({1, 2}), BytesOf({3, 4, 5, 6}), BytesOf({7, 8, 9, 10, 11})}).ok());

  const auto file = GgufFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_EQ((*file)->metadata().values().size(), values.size());
  for (const auto& [key, value] : values) {
    const GgufValue* got = (*file)->metadata().Find(key);
    ASSERT_NE(got, nullptr) << key;
    EXPECT_EQ(got->type, value.type) << key;
    EXPECT_TRUE(got->value == value.value) << key;
  }
  const TensorInfo& m = *(*file)->Find("m");
  EXPECT_THAT(m.shape, ElementsAre(2, 3, 1, 1));
  float elements[6];
  ReadFloats(**file, m, elements);
  EXPECT_THAT(elements, ElementsAre(1, 2, 3, 4, 5, 6));
  float vector[5];
  ReadFloats(**file, *(*file)->Find("v"), vector);
  EXPECT_THAT(vector, ElementsAre(7, 8, 9, 10, 11));
}

TEST_F(GgufWriterTest, AFileThatIsNotFinishedNeverAppears) {
  const std::vector<GgufTensorPlan> plans = {{.name = "v", .rank = 1, .shape = {2, 1, 1, 1}}};
  {
    auto writer = GgufWriter::Create(path_, {}, plans);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(BytesOf({1})).ok());
    EXPECT_THAT(writer->Finish().message(), HasSubstr("tensor v is not complete"));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(GgufWriterTest, RefusesBytesThatBelongToNoTensor) {
  const std::vector<GgufTensorPlan> plans = {{.name = "v", .rank = 1, .shape = {2, 1, 1, 1}}};
  EXPECT_THAT(Write({}, plans, {BytesOf({1, 2, 3})}).message(), HasSubstr("tensor v has room for 8"));
  EXPECT_THAT(Write({}, plans, {BytesOf({1, 2}), BytesOf({3})}).message(), HasSubstr("tensor none has room for 0"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(GgufWriterTest, RefusesWhatTheFormatHasNoPlaceFor) {
  const GgufTensorPlan plan{.name = "v", .rank = 1, .shape = {2, 1, 1, 1}};
  EXPECT_THAT(Write({{"", {}}}, {}, {}).message(), HasSubstr("key ''"));
  EXPECT_THAT(Write({}, {plan, plan}, {}).message(), HasSubstr("'v' occurs twice"));
  GgufTensorPlan other = plan;
  other.name = std::string(65, 'n');
  EXPECT_THAT(Write({}, {other}, {}).message(), HasSubstr("wanted 1 to 64 bytes"));
  other = plan;
  other.dtype = DType::kQ8_0;
  EXPECT_THAT(Write({}, {other}, {}).message(), HasSubstr("rows of 2 elements"));
  other = plan;
  other.shape[0] = 0;
  EXPECT_THAT(Write({}, {other}, {}).message(), HasSubstr("rows of 0 elements"));
  EXPECT_EQ(GgufWriter::Create(testing::TempDir(), {}, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(GgufWriter::Create("/no/such/folder/x.gguf", {}, {}).status().code(), StatusCode::kIo);
}

}  // namespace
}  // namespace adit::formats
