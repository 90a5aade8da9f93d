#include "formats/ggml_type.h"

#include <gtest/gtest.h>

#include <set>

#include "support/gguf_builder.h"

namespace adit::formats {
namespace {

TEST(GgmlType, MapsEachDTypeToItsNumberAndBack) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::kInt4 || dtype == DType::kInt8 || dtype == DType::kFp8) {
      EXPECT_EQ(GgmlTypeOf(dtype).number, kNoGgmlNumber);
      continue;
    }
    EXPECT_EQ(GgmlTypeOf(dtype).number, test::GgmlNumberOf(dtype)) << Traits(dtype).name;
    const GgmlType* type = FindGgmlType(test::GgmlNumberOf(dtype));
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(type->dtype, dtype) << type->name;
    EXPECT_EQ(ParseDType(type->name), dtype) << type->name;
  }
}

TEST(GgmlType, NamesEveryNumberOnce) {
  std::set<std::string_view> names;
  uint32_t number = 0;
  for (; FindGgmlType(number) != nullptr; ++number) {
    EXPECT_EQ(FindGgmlType(number)->number, number);
    EXPECT_TRUE(names.insert(FindGgmlType(number)->name).second) << FindGgmlType(number)->name;
  }
  EXPECT_EQ(number, 43u);
  EXPECT_EQ(FindGgmlType(16)->name, "IQ2_XXS");
  EXPECT_EQ(FindGgmlType(26)->name, "I32");
  EXPECT_EQ(FindGgmlType(39)->name, "MXFP4");
  EXPECT_EQ(FindGgmlType(0xffffffff), nullptr);
}

}  // namespace
}  // namespace adit::formats
