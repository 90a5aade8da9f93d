#include "formats/gguf_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "formats/gguf.h"
#include "support/gguf_builder.h"
#include "support/gguf_cases.h"

namespace adit::formats {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GgufMetadata Read(const test::GgufBuilder& builder) {
  const std::vector<std::byte> bytes = builder.Build();
  const auto file = GgufFile::Parse(bytes, "test.gguf");
  if (!file.ok()) {
    ADD_FAILURE() << file.status().ToString();
    return GgufMetadata();
  }
  return (*file)->metadata();
}

GgufMetadata ReadEveryValueType() {
  for (const test::GgufCase& valid : test::ValidGgufCases()) {
    if (valid.name != "every_value_type") continue;
    const auto file = GgufFile::Parse(valid.bytes, "test.gguf");
    if (file.ok()) return (*file)->metadata();
  }
  ADD_FAILURE() << "no case every_value_type, or it does not load";
  return GgufMetadata();
}

// What a getter gave for a key of the wrong type names the key, the type in the file and the type wanted.
template <typename T>
void ExpectWrongType(const Result<T>& result, const std::string& key, const std::string& got,
                     const std::string& wanted) {
  EXPECT_EQ(result.status().code(), StatusCode::kCorrupt) << key;
  EXPECT_THAT(result.status().message(), AllOf(HasSubstr("test.gguf"), HasSubstr("'" + key + "'"),
                                               HasSubstr("type " + got + ","), HasSubstr("wanted " + wanted)));
}

TEST(GgufMetadata, GetIntTakesEveryIntegerType) {
  const GgufMetadata metadata = ReadEveryValueType();
  const std::pair<const char*, int64_t> wanted[] = {{"u8", 200},
                                                    {"i8", -100},
                                                    {"u16", 60000},
                                                    {"i16", -30000},
                                                    {"u32", 4000000000},
                                                    {"i32", -2000000000},
                                                    {"i64", -9000000000000000000}};
  for (const auto& [key, value] : wanted) {
    const auto got = metadata.GetInt(key);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ(*got, value) << key;
  }
}

TEST(GgufMetadata, GetIntRefusesWhatInt64CannotHold) {
  const auto largest = Read(test::GgufBuilder().Add<uint64_t>("k", std::numeric_limits<int64_t>::max())).GetInt("k");
  ASSERT_TRUE(largest.ok());
  EXPECT_EQ(*largest, std::numeric_limits<int64_t>::max());
  const auto beyond = Read(test::GgufBuilder().Add<uint64_t>("k", uint64_t{1} << 63)).GetInt("k");
  EXPECT_EQ(beyond.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(beyond.status().message(), AllOf(HasSubstr("'k'"), HasSubstr("9223372036854775808")));
}

TEST(GgufMetadata, GetFloatTakesFloatsAndIntegers) {
  const GgufMetadata metadata = ReadEveryValueType();
  EXPECT_EQ(*metadata.GetFloat("f32"), 0.5);
  EXPECT_EQ(*metadata.GetFloat("f64"), 0.1);
  EXPECT_EQ(*metadata.GetFloat("u8"), 200.0);
  EXPECT_EQ(*metadata.GetFloat("i8"), -100.0);
}

TEST(GgufMetadata, GetBoolAndGetStringGiveTheirValues) {
  const GgufMetadata metadata = ReadEveryValueType();
  EXPECT_TRUE(*metadata.GetBool("bool"));
  EXPECT_EQ(*metadata.GetString("string"), "text");
}

TEST(GgufMetadata, ArraysGiveTheirElements) {
  const GgufMetadata metadata = ReadEveryValueType();
  EXPECT_THAT(*metadata.GetStrings("strings"), ElementsAre("a", "", "\xff\xfe"));
  EXPECT_THAT(*metadata.GetFloats("f32s"), ElementsAre(0.25f, -1.0f));
  EXPECT_THAT(*metadata.GetInts("i32s"), ElementsAre(-1, 2));
  EXPECT_THAT(*metadata.GetInts("empty"), IsEmpty());
  EXPECT_THAT(std::get<std::vector<bool>>(metadata.Find("bools")->value), ElementsAre(true, false, true));
  EXPECT_THAT(std::get<std::vector<uint64_t>>(metadata.Find("u16s")->value), ElementsAre(1, 60000));
}

TEST(GgufMetadata, KeepsTheTypeOfEveryValue) {
  const GgufMetadata metadata = ReadEveryValueType();
  const std::pair<const char*, GgufType> scalars[] = {
      {"u8", GgufType::kU8},   {"i8", GgufType::kI8},   {"u16", GgufType::kU16},       {"i16", GgufType::kI16},
      {"u32", GgufType::kU32}, {"i32", GgufType::kI32}, {"f32", GgufType::kF32},       {"bool", GgufType::kBool},
      {"u64", GgufType::kU64}, {"i64", GgufType::kI64}, {"string", GgufType::kString}, {"f64", GgufType::kF64}};
  for (const auto& [key, type] : scalars) {
    ASSERT_NE(metadata.Find(key), nullptr) << key;
    EXPECT_EQ(metadata.Find(key)->type, type) << key;
    const GgufValue* array = metadata.Find(std::string(key) + "s");
    ASSERT_NE(array, nullptr) << key;
    EXPECT_EQ(array->type, GgufType::kArray) << key;
    EXPECT_EQ(array->element_type, type) << key;
  }
}

TEST(GgufMetadata, NamesAMissingKey) {
  const GgufMetadata metadata = ReadEveryValueType();
  for (const Status& status :
       {metadata.GetInt("gone").status(), metadata.GetFloat("gone").status(), metadata.GetBool("gone").status(),
        metadata.GetString("gone").status(), metadata.GetStrings("gone").status(), metadata.GetFloats("gone").status(),
        metadata.GetInts("gone").status()}) {
    EXPECT_EQ(status.code(), StatusCode::kNotFound);
    EXPECT_EQ(status.message(), "gguf: test.gguf: key 'gone' is missing");
  }
  EXPECT_FALSE(metadata.Has("gone"));
  EXPECT_TRUE(metadata.Has("u8"));
}

TEST(GgufMetadata, ScalarGettersRefuseOtherTypes) {
  const GgufMetadata metadata = ReadEveryValueType();
  ExpectWrongType(metadata.GetInt("f32"), "f32", "FLOAT32", "an integer");
  ExpectWrongType(metadata.GetInt("bool"), "bool", "BOOL", "an integer");
  ExpectWrongType(metadata.GetInt("i32s"), "i32s", "ARRAY of INT32", "an integer");
  ExpectWrongType(metadata.GetFloat("string"), "string", "STRING", "a number");
  ExpectWrongType(metadata.GetFloat("bool"), "bool", "BOOL", "a number");
  ExpectWrongType(metadata.GetBool("u8"), "u8", "UINT8", "BOOL");
  ExpectWrongType(metadata.GetString("u64"), "u64", "UINT64", "STRING");
}

// Arrays with the right count but another element type must not be read as if they had the wanted one.
TEST(GgufMetadata, ArrayGettersRefuseOtherElementTypes) {
  const GgufMetadata metadata = ReadEveryValueType();
  ExpectWrongType(metadata.GetFloats("u8s"), "u8s", "ARRAY of UINT8", "ARRAY of FLOAT32");
  ExpectWrongType(metadata.GetFloats("i32s"), "i32s", "ARRAY of INT32", "ARRAY of FLOAT32");
  ExpectWrongType(metadata.GetFloats("f32"), "f32", "FLOAT32", "ARRAY of FLOAT32");
  for (const auto& [key, type] : {std::pair{"i8s", "INT8"}, std::pair{"u8s", "UINT8"}, std::pair{"i16s", "INT16"},
                                  std::pair{"u16s", "UINT16"}, std::pair{"i64s", "INT64"}, std::pair{"u64s", "UINT64"},
                                  std::pair{"bools", "BOOL"}, std::pair{"f32s", "FLOAT32"}}) {
    ExpectWrongType(metadata.GetInts(key), key, std::string("ARRAY of ") + type, "ARRAY of INT32");
  }
  ExpectWrongType(metadata.GetInts("i32"), "i32", "INT32", "ARRAY of INT32");
  ExpectWrongType(metadata.GetStrings("string"), "string", "STRING", "ARRAY of STRING");
  ExpectWrongType(metadata.GetStrings("u8s"), "u8s", "ARRAY of UINT8", "ARRAY of STRING");
}

TEST(GgufMetadata, GetIntsChecksTheRangeOfUint32) {
  const auto within = Read(test::GgufBuilder().AddArray<uint32_t>("k", {0, 2147483647})).GetInts("k");
  ASSERT_TRUE(within.ok()) << within.status().ToString();
  EXPECT_THAT(*within, ElementsAre(0, 2147483647));
  const auto beyond = Read(test::GgufBuilder().AddArray<uint32_t>("k", {0, 2147483648})).GetInts("k");
  EXPECT_EQ(beyond.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(beyond.status().message(), AllOf(HasSubstr("'k'"), HasSubstr("element 1 is 2147483648")));
}

TEST(GgufMetadata, GetFloatsNarrowsFloat64AndChecksItsRange) {
  const auto within = Read(test::GgufBuilder().AddArray<double>("k", {0.5, -3e38})).GetFloats("k");
  ASSERT_TRUE(within.ok()) << within.status().ToString();
  EXPECT_THAT(*within, ElementsAre(0.5f, -3e38f));
  const auto beyond = ReadEveryValueType().GetFloats("f64s");
  EXPECT_EQ(beyond.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(beyond.status().message(), AllOf(HasSubstr("'f64s'"), HasSubstr("element 1 is 1e+300")));
}

TEST(GgufMetadata, FallbacksStandForAbsentKeysOnly) {
  const GgufMetadata metadata = ReadEveryValueType();
  EXPECT_EQ(*metadata.IntOr("gone", 7), 7);
  EXPECT_EQ(*metadata.IntOr("u8", 7), 200);
  EXPECT_EQ(*metadata.FloatOr("gone", 0.25), 0.25);
  EXPECT_EQ(*metadata.FloatOr("f32", 0.25), 0.5);
  EXPECT_FALSE(*metadata.BoolOr("gone", false));
  EXPECT_TRUE(*metadata.BoolOr("bool", false));
  EXPECT_EQ(*metadata.StringOr("gone", "other"), "other");
  EXPECT_EQ(*metadata.StringOr("string", "other"), "text");
  ExpectWrongType(metadata.IntOr("string", 7), "string", "STRING", "an integer");
  ExpectWrongType(metadata.FloatOr("string", 7), "string", "STRING", "a number");
  ExpectWrongType(metadata.BoolOr("string", true), "string", "STRING", "BOOL");
  ExpectWrongType(metadata.StringOr("u8", ""), "u8", "UINT8", "STRING");
}

TEST(GgufTypeName, NamesEachTypeAndNoOther) {
  EXPECT_EQ(GgufTypeName(GgufType::kU8), "UINT8");
  EXPECT_EQ(GgufTypeName(GgufType::kF32), "FLOAT32");
  EXPECT_EQ(GgufTypeName(GgufType::kArray), "ARRAY");
  EXPECT_EQ(GgufTypeName(GgufType::kF64), "FLOAT64");
  EXPECT_EQ(GgufTypeName(static_cast<GgufType>(13)), "unknown type");
}

}  // namespace
}  // namespace adit::formats
