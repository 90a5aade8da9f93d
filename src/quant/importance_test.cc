#include "quant/importance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "support/gguf_builder.h"

namespace adit::quant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Importance Small() {
  Importance importance;
  importance.matrices["blk.0.ffn_up.weight"] = {.sums = {2.0f, 0.0f, 6.0f}, .count = 2.0f};
  importance.matrices["blk.0.attn_q.weight"] = {.sums = {8.0f, 4.0f}, .count = 4.0f};
  importance.datasets = {"a.txt"};
  importance.num_chunks = 7;
  importance.chunk_size = 512;
  return importance;
}

std::string PathOfTest() {
  return testing::TempDir() + "importance_" + testing::UnitTest::GetInstance()->current_test_info()->name();
}

Status ReadBytes(const std::vector<std::byte>& bytes) {
  const std::string path = PathOfTest();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return ReadImportance(path).status();
}

TEST(Importance, WhatIsWrittenIsRead) {
  ASSERT_TRUE(WriteImportance(Small(), PathOfTest()).ok());
  const auto read = ReadImportance(PathOfTest());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->num_chunks, 7u);
  EXPECT_EQ(read->chunk_size, 512u);
  EXPECT_THAT(read->datasets, ElementsAre("a.txt"));
  EXPECT_THAT(*read->For("blk.0.ffn_up.weight", 3, "x"), ElementsAre(1.0f, 0.0f, 3.0f));
  EXPECT_THAT(*read->For("blk.0.attn_q.weight", 2, "x"), ElementsAre(2.0f, 1.0f));
}

TEST(Importance, AJointMatrixHasThatOfItsFirstPart) {
  EXPECT_THAT(*Small().For("blk.0.attn_qkv.weight", 2, "x"), ElementsAre(2.0f, 1.0f));
  EXPECT_TRUE(Small().For("blk.1.attn_qkv.weight", 2, "x")->empty());
}

TEST(Importance, OfAnotherModelIsRefused) {
  EXPECT_THAT(Small().For("blk.0.ffn_up.weight", 4, "x").status().message(), HasSubstr("made for another model"));
}

TEST(Importance, InputsThatWereAlwaysZeroTellNothing) {
  Importance importance;
  importance.matrices["a.weight"] = {.sums = {0.0f, 0.0f}, .count = 5.0f};
  EXPECT_TRUE(importance.For("a.weight", 2, "x")->empty());
}

TEST(ReadImportance, RefusesWhatIsNone) {
  using test::GgufBuilder;
  const auto base = [] { return GgufBuilder().Add<std::string>("general.type", "imatrix"); };
  EXPECT_THAT(ReadBytes(GgufBuilder().Add<std::string>("general.architecture", "llama").Build()).message(),
              HasSubstr("general.type is 'model'"));
  EXPECT_THAT(ReadBytes(base().Build()).message(), HasSubstr("no importance of any matrix"));
  EXPECT_THAT(ReadBytes(base().AddTensorF32("a.weight.in_sum2", {1, 2}, {1.0f, 2.0f}).Build()).message(),
              HasSubstr("'a.weight.counts' is missing"));
  const auto with = [&](std::vector<float> sums, float count) {
    return ReadBytes(base()
                         .AddTensorF32("a.weight.in_sum2", {1, static_cast<int64_t>(sums.size())}, sums)
                         .AddTensorF32("a.weight.counts", {1, 1}, {count})
                         .Build());
  };
  EXPECT_TRUE(with({1.0f, 2.0f}, 1.0f).ok());
  EXPECT_THAT(with({1.0f, -2.0f}, 1.0f).message(), HasSubstr("sum of squares -2"));
  EXPECT_THAT(with({1.0f, 2.0f}, 0.0f).message(), HasSubstr("counts 0 tokens"));
}

}  // namespace
}  // namespace adit::quant
