#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "support/gguf_builder.h"

namespace adit::formats {
namespace {

using test::GgufBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

class SplitGgufTest : public testing::Test {
 protected:
  SplitGgufTest()
      : folder_(testing::TempDir() + "split_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~SplitGgufTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(int part, int count) const {
    char name[64];
    std::snprintf(name, sizeof(name), "/m-%05d-of-%05d.gguf", part, count);
    return folder_ + name;
  }
  // Part 1 of 3 holds the keys, part 2 tensor a, part 3 tensors b and c.
  void WriteAll(int32_t num_tensors = 3, uint16_t number_of_third = 2, const char* name_of_third = "c") {
    test::WriteFile(Path(1, 3), GgufBuilder()
                                    .AddString("general.architecture", "llama")
                                    .Add<uint16_t>("split.no", 0)
                                    .Add<uint16_t>("split.count", 3)
                                    .Add<int32_t>("split.tensors.count", num_tensors)
                                    .Build());
    test::WriteFile(Path(2, 3), GgufBuilder()
                                    .Add<uint16_t>("split.no", 1)
                                    .Add<uint16_t>("split.count", 3)
                                    .AddTensorF32("a", {2}, {1, 2})
                                    .Build());
    test::WriteFile(Path(3, 3), GgufBuilder()
                                    .Add<uint16_t>("split.no", number_of_third)
                                    .Add<uint16_t>("split.count", 3)
                                    .AddTensorF32("b", {1, 2}, {3, 4})
                                    .AddTensorF32(name_of_third, {1}, {5})
                                    .Build());
  }
  Status Error() const { return GgufFile::Open(Path(1, 3)).status(); }

  std::string folder_;
};

TEST_F(SplitGgufTest, AnyPartOpensAll) {
  WriteAll();
  for (int part = 1; part <= 3; ++part) {
    const auto file = GgufFile::Open(Path(part, 3));
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(*(*file)->metadata().GetString("general.architecture"), "llama");
    ASSERT_EQ((*file)->tensors().size(), 3u);
    float b[2];
    ReadFloats(**file, *(*file)->Find("b"), b);
    EXPECT_THAT(b, ElementsAre(3.0f, 4.0f));
    (*file)->Release((*file)->Find("c")->data);
    EXPECT_EQ((*file)->Format(), "GGUF version 3, 3 files");
    EXPECT_GT((*file)->size_bytes(), 3u * 24u);
  }
}

TEST_F(SplitGgufTest, RefusesPartsThatDoNotBelongTogether) {
  WriteAll();
  std::filesystem::remove(Path(3, 3));
  EXPECT_EQ(Error().code(), StatusCode::kNotFound);
  EXPECT_THAT(Error().message(), HasSubstr("m-00003-of-00003.gguf"));
  WriteAll(4);
  EXPECT_THAT(Error().message(), HasSubstr("have 3 tensors, key 'split.tensors.count' says 4"));
  WriteAll(3, 1);
  EXPECT_THAT(Error().message(), HasSubstr("part 2 of 3 by its keys 'split.no' and 'split.count', wanted 3 of 3"));
  WriteAll(3, 2, "a");
  EXPECT_THAT(Error().message(), HasSubstr("tensor 'a' is in an earlier part already"));
}

TEST_F(SplitGgufTest, WantsTheNameOfAPart) {
  WriteAll();
  const std::string path = folder_ + "/renamed.gguf";
  std::filesystem::copy_file(Path(1, 3), path);
  EXPECT_THAT(GgufFile::Open(path).status().message(), HasSubstr("does not end like '-00001-of-00003.gguf'"));
}

TEST(GgufNumbers, AreWidenedAsTheyAreRead) {
  const auto raw = [](const char* name, uint32_t type, auto values) {
    const auto bytes = std::as_bytes(std::span(values));
    return test::RawGgufTensor{
        .name = name, .dims = {values.size()}, .type = type, .bytes = {bytes.begin(), bytes.end()}};
  };
  const auto bytes = GgufBuilder()
                         .AddRawTensor(raw("f64", 28, std::vector<double>{0.1, -2.5}))
                         .AddRawTensor(raw("i8", 24, std::vector<int8_t>{-128, 127}))
                         .AddRawTensor(raw("i16", 25, std::vector<int16_t>{-300, 300}))
                         .AddRawTensor(raw("i32", 26, std::vector<int32_t>{-70000, 70000}))
                         .AddRawTensor(raw("i64", 27, std::vector<int64_t>{-1, 1 << 24}))
                         .Build();
  const auto file = GgufFile::Parse(bytes, "x");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto read = [&](const char* name) {
    std::vector<float> values(2);
    ReadFloats(**file, *(*file)->Find(name), values.data());
    return values;
  };
  EXPECT_THAT(read("f64"), ElementsAre(0.1f, -2.5f));
  EXPECT_THAT(read("i8"), ElementsAre(-128.0f, 127.0f));
  EXPECT_THAT(read("i16"), ElementsAre(-300.0f, 300.0f));
  EXPECT_THAT(read("i32"), ElementsAre(-70000.0f, 70000.0f));
  EXPECT_THAT(read("i64"), ElementsAre(-1.0f, 0x1p24f));
  EXPECT_EQ((*file)->Find("i64")->stored_type, "I64");
  EXPECT_TRUE((*file)->Find("i64")->is_computed());
}

}  // namespace
}  // namespace adit::formats
