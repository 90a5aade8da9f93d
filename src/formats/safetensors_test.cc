#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/gguf_builder.h"
#include "support/safetensors_builder.h"

namespace adit::formats {
namespace {

using test::SafetensorsBuilder;
using test::SafetensorsBytes;
using testing::HasSubstr;

// A file of `header` and so many bytes of data.
Status ErrorOf(std::string_view header, size_t data_bytes) {
  const std::vector<std::byte> bytes = SafetensorsBytes(header, std::vector<std::byte>(data_bytes));
  return SafetensorsFile::Parse(bytes, "x.safetensors").status();
}

// The same with a length of the header's own.
Status ErrorOfLength(uint64_t length, std::string_view header, size_t data_bytes) {
  std::vector<std::byte> bytes = SafetensorsBytes(header, std::vector<std::byte>(data_bytes));
  std::memcpy(bytes.data(), &length, sizeof(length));
  return SafetensorsFile::Parse(bytes, "x.safetensors").status();
}

std::string Entry(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view offsets) {
  std::string text = "\"";
  return text.append(name)
      .append("\":{\"dtype\":\"")
      .append(dtype)
      .append("\",\"shape\":")
      .append(shape)
      .append(",\"data_offsets\":")
      .append(offsets)
      .append("}");
}

constexpr std::string_view kFour = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

TEST(Safetensors, RefusesHeaderLengthsThatCannotBe) {
  EXPECT_THAT(ErrorOfLength(0, kFour, 4).message(), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(ErrorOfLength(kFour.size() + 5, kFour, 4).message(), HasSubstr("exceeds the"));
  EXPECT_EQ(ErrorOfLength(UINT64_MAX, kFour, 4).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorOfLength(100'000'001, kFour, 4).code(), StatusCode::kResourceExhausted);
  const std::byte few[7] = {};
  EXPECT_THAT(SafetensorsFile::Parse(few, "x").status().message(), HasSubstr("7 bytes"));
  EXPECT_TRUE(ErrorOfLength(kFour.size(), kFour, 4).ok());
}

TEST(Safetensors, RefusesASparseFileWithALargeHeader) {
  const std::string path = testing::TempDir() + "sparse.safetensors";
  test::WriteFile(path, SafetensorsBytes(kFour, {}));
  std::filesystem::resize_file(path, 300'000'000);
  EXPECT_FALSE(SafetensorsFile::Open(path).ok());
  std::filesystem::remove(path);
}

TEST(Safetensors, RefusesHeadersThatAreNotItsJson) {
  EXPECT_THAT(ErrorOf("[1]", 0).message(), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(ErrorOf(" {}", 0).message(), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(ErrorOf("{\"\xff\":1}", 0).message(), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf("{\"x\":", 0).message(), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf("{\"x\":3}", 0).message(), HasSubstr("tensor 'x' is an integer, wanted an object"));
  std::string deep = "{\"x\":";
  deep.append(100'000, '[');
  EXPECT_EQ(ErrorOf(deep, 0).code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(
      ErrorOf("{" + Entry("x", "F32", "[1]", "[0,4]") + "," + Entry("x", "F32", "[1]", "[4,8]") + "}", 8).message(),
      HasSubstr("key 'x' occurs twice"));
  EXPECT_THAT(ErrorOf(R"({"__metadata__":{"a":1}})", 0).message(), HasSubstr("'a' is an integer, wanted a string"));
  EXPECT_THAT(ErrorOf(R"({"__metadata__":1})", 0).message(), HasSubstr("__metadata__ is an integer"));
}

TEST(Safetensors, RefusesRangesThatLie) {
  const auto one = [](std::string_view shape, std::string_view offsets, size_t data_bytes) {
    return ErrorOf("{" + Entry("x", "F32", shape, offsets) + "}", data_bytes).message();
  };
  EXPECT_THAT(one("[1]", "[4,0]", 4), HasSubstr("lies at 4..0"));
  EXPECT_THAT(one("[1]", "[1,5]", 4), HasSubstr("lies at 1..5, outside of the 4 bytes"));
  EXPECT_THAT(one("[1]", "[-4,0]", 4), HasSubstr("lies at -4..0"));
  EXPECT_THAT(one("[1]", "[0,18446744073709551615]", 4), HasSubstr("no data_offsets of two integers"));
  EXPECT_THAT(one("[1]", "[0]", 4), HasSubstr("no data_offsets of two integers"));
  EXPECT_THAT(one("[2,2]", "[0,12]", 12), HasSubstr("takes 12 bytes, its shape and dtype F32 want 16"));
  EXPECT_THAT(one("[1]", "[4,8]", 8), HasSubstr("4 bytes before tensor 'x' belong to no tensor"));
  EXPECT_THAT(one("[1]", "[0,4]", 8), HasSubstr("the last 4 bytes belong to no tensor"));
  EXPECT_THAT(
      ErrorOf("{" + Entry("a", "F32", "[2]", "[0,8]") + "," + Entry("b", "F32", "[2]", "[4,12]") + "}", 12).message(),
      HasSubstr("tensor 'b' at 4 overlaps"));
  EXPECT_THAT(
      ErrorOf("{" + Entry("a", "F32", "[1]", "[0,4]") + "," + Entry("b", "F32", "[1]", "[8,12]") + "}", 12).message(),
      HasSubstr("4 bytes before tensor 'b'"));
}

TEST(Safetensors, RefusesShapesAndTypesThatCannotBe) {
  const auto one = [](std::string_view dtype, std::string_view shape) {
    return ErrorOf("{" + Entry("x", dtype, shape, "[0,4]") + "}", 4);
  };
  EXPECT_THAT(one("F32", "[4611686018427387904,4]").message(), HasSubstr("more than 2^63 - 1 bytes"));
  EXPECT_THAT(one("F32", "[0,4611686018427387904,4]").message(), HasSubstr("more than 2^63 - 1 bytes"));
  EXPECT_THAT(one("F32", "[-1]").message(), HasSubstr("no integer of 0 or more"));
  EXPECT_THAT(one("F32", "[1.0]").message(), HasSubstr("no integer of 0 or more"));
  EXPECT_THAT(one("F32", "[1,1,1,1,1,1,1,1,1]").message(), HasSubstr("9 dimensions, the limit is 8"));
  EXPECT_THAT(one("F99", "[1]").message(), HasSubstr("unknown dtype 'F99'"));
  EXPECT_EQ(one("F4", "[8]").code(), StatusCode::kUnsupported);
  EXPECT_THAT(ErrorOf(R"({"x":{"dtype":"F32","data_offsets":[0,4]}})", 4).message(), HasSubstr("has no shape"));
  EXPECT_THAT(ErrorOf(R"({"x":{"shape":[1],"data_offsets":[0,4]}})", 4).message(), HasSubstr("has no dtype"));
  EXPECT_THAT(ErrorOf(R"({"x":{"dtype":"F32","shape":[1]}})", 4).message(), HasSubstr("no data_offsets"));
}

TEST(Safetensors, NamesFilesThatAreSomethingElse) {
  const std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
  EXPECT_THAT(SafetensorsFile::Parse(std::as_bytes(std::span(pointer)), "x").status().message(), HasSubstr("Git LFS"));
  EXPECT_EQ(SafetensorsFile::Open(testing::TempDir()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(SafetensorsFile::Open("/no/such.safetensors").status().code(), StatusCode::kNotFound);
}

TEST(Safetensors, LoadsWhatTheFormatAllows) {
  const float values[3] = {1.5f, -2.0f, 3.0f};
  // Out of order, a scalar, an empty tensor, padding behind the header, other types.
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + Entry("b", "F32", "[2]", "[4,12]") + "," +
                             Entry("empty", "F32", "[0,3]", "[4,4]") + "," + Entry("a", "F32", "[]", "[0,4]") + "," +
                             Entry("flags", "BOOL", "[4]", "[12,16]") + "," + Entry("ids", "I64", "[1]", "[16,24]") +
                             "," + Entry("h", "BF16", "[1,2]", "[24,28]") + "}   ";
  std::vector<std::byte> data(28);
  std::memcpy(data.data(), values, sizeof(values));
  const std::vector<std::byte> bytes = SafetensorsBytes(header, data);
  const auto file = SafetensorsFile::Parse(bytes, "x");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_EQ(file->tensors().size(), 6u);
  const SafetensorsTensor& b = file->tensors()[0];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(std::memcmp(b.data.data(), &values[1], 8), 0);
  EXPECT_EQ(file->tensors()[1].num_elements(), 0);
  EXPECT_TRUE(file->tensors()[2].shape.empty());
  EXPECT_EQ(std::memcmp(file->tensors()[2].data.data(), &values[0], 4), 0);
  EXPECT_FALSE(file->tensors()[3].type->is_real());
  EXPECT_EQ(file->tensors()[5].type->dtype, DType::kBF16);
}

TEST(Safetensors, AnEmptyFileOfTensorsIsOne) {
  EXPECT_TRUE(ErrorOf("{}", 0).ok());
  EXPECT_FALSE(ErrorOf("{}", 1).ok());
}

TEST(SafetensorsType, WidensEveryTypeExactly) {
  const auto widen = [](const char* type, auto element) {
    float out = -1.0f;
    FindSafetensorsType(type)->decode(reinterpret_cast<const std::byte*>(&element), &out, 1);
    return out;
  };
  EXPECT_EQ(widen("F64", 0.1), 0.1f);
  EXPECT_EQ(widen("I8", int8_t{-128}), -128.0f);
  EXPECT_EQ(widen("U8", uint8_t{255}), 255.0f);
  EXPECT_EQ(widen("I16", int16_t{-32768}), -32768.0f);
  EXPECT_EQ(widen("U16", uint16_t{65535}), 65535.0f);
  EXPECT_EQ(widen("I32", int32_t{-16777216}), -16777216.0f);
  EXPECT_EQ(widen("U32", uint32_t{1} << 31), 0x1p31f);
  EXPECT_EQ(widen("I64", int64_t{-5}), -5.0f);
  EXPECT_EQ(widen("U64", uint64_t{1} << 63), 0x1p63f);
  // Largest, smallest normal, smallest and largest subnormal, by the definition of the formats.
  EXPECT_EQ(widen("F8_E4M3", uint8_t{0x7e}), 448.0f);
  EXPECT_EQ(widen("F8_E4M3", uint8_t{0x88}), -0x1p-6f);
  EXPECT_EQ(widen("F8_E4M3", uint8_t{0x01}), 0x1p-9f);
  EXPECT_EQ(widen("F8_E4M3", uint8_t{0x07}), 7 * 0x1p-9f);
  EXPECT_EQ(widen("F8_E4M3", uint8_t{0x38}), 1.0f);
  EXPECT_TRUE(std::isnan(widen("F8_E4M3", uint8_t{0x7f})));
  EXPECT_TRUE(std::signbit(widen("F8_E4M3", uint8_t{0x80})));
  EXPECT_EQ(widen("F8_E5M2", uint8_t{0x7b}), 57344.0f);
  EXPECT_EQ(widen("F8_E5M2", uint8_t{0x3c}), 1.0f);
  EXPECT_EQ(widen("F8_E5M2", uint8_t{0x81}), -0x1p-16f);
  EXPECT_EQ(widen("F8_E5M2", uint8_t{0x7c}), INFINITY);
}

class SafetensorsFolderTest : public testing::Test {
 protected:
  SafetensorsFolderTest() : folder_(testing::TempDir() + "folder_" + Name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~SafetensorsFolderTest() override { std::filesystem::remove_all(folder_); }

  static std::string Name() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
  void Write(const std::string& name, std::span<const std::byte> bytes) {
    test::WriteFile(folder_ + "/" + name, bytes);
  }
  void WriteIndex(std::string_view text) { Write("model.safetensors.index.json", std::as_bytes(std::span(text))); }
  Status Error() const { return SafetensorsFolder::Open(folder_).status(); }

  std::string folder_;
};

TEST_F(SafetensorsFolderTest, OpensOneFile) {
  EXPECT_THAT(Error().message(), HasSubstr("no model.safetensors and no model.safetensors.index.json"));
  Write("model.safetensors", SafetensorsBuilder().AddF32("x", {1}, {4.0f}).Build());
  const auto folder = SafetensorsFolder::Open(folder_);
  ASSERT_TRUE(folder.ok()) << folder.status().ToString();
  EXPECT_EQ(folder->Find("x").tensor->num_elements(), 1);
  EXPECT_EQ(folder->Find("y").tensor, nullptr);
}

TEST_F(SafetensorsFolderTest, OpensTheFilesOfAnIndex) {
  Write("a-1.safetensors", SafetensorsBuilder().AddF32("x", {1}, {1.0f}).AddF32("y", {1}, {2.0f}).Build());
  Write("a-2.safetensors", SafetensorsBuilder().AddF32("z", {2}, {3.0f, 4.0f}).Build());
  WriteIndex(
      R"({"metadata":{"total_size":16},"weight_map":{"x":"a-1.safetensors","y":"a-1.safetensors","z":"a-2.safetensors"}})");
  const auto folder = SafetensorsFolder::Open(folder_);
  ASSERT_TRUE(folder.ok()) << folder.status().ToString();
  EXPECT_EQ(folder->files().size(), 2u);
  float z[2];
  std::memcpy(z, folder->Find("z").tensor->data.data(), sizeof(z));
  EXPECT_EQ(z[1], 4.0f);
  EXPECT_EQ(folder->size_bytes(), folder->files()[0].size_bytes() + folder->files()[1].size_bytes());
}

TEST_F(SafetensorsFolderTest, RefusesAnIndexThatLies) {
  const auto x = SafetensorsBuilder().AddF32("x", {1}, {1.0f}).Build();
  Write("a.safetensors", x);
  WriteIndex(R"({"weight_map":{"x":"a.safetensors","y":"a.safetensors"}})");
  EXPECT_THAT(Error().message(), HasSubstr("tensor 'y' is not in a.safetensors"));
  WriteIndex(R"({"weight_map":{"x":"b.safetensors"}})");
  EXPECT_EQ(Error().code(), StatusCode::kNotFound);
  Write("b.safetensors", x);
  WriteIndex(R"({"weight_map":{"x":"a.safetensors","w":"b.safetensors"}})");
  EXPECT_THAT(Error().message(), HasSubstr("tensor 'x' is both in"));
  for (const char* file : {"../a.safetensors", "/etc/passwd", ".safetensors", "a.bin", "sub/a.safetensors"}) {
    WriteIndex(std::string(R"({"weight_map":{"x":")") + file + "\"}}");
    EXPECT_THAT(Error().message(), HasSubstr("wanted the name of a .safetensors file")) << file;
  }
  WriteIndex(R"({"weight_map":{"x":3}})");
  EXPECT_THAT(Error().message(), HasSubstr("is an integer"));
  WriteIndex("{}");
  EXPECT_THAT(Error().message(), HasSubstr("weight_map is missing"));
  WriteIndex("[");
  EXPECT_THAT(Error().message(), HasSubstr("not JSON"));
}

}  // namespace
}  // namespace adit::formats
