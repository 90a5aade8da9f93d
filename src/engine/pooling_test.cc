#include "engine/pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "support/gguf_builder.h"

namespace adit::engine {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

std::vector<float> Pooled(Pooling pooling, bool normalize) {
  const float states[] = {3.0f, 4.0f, 1.0f, 0.0f, 5.0f, 2.0f};
  Pooler pooler(pooling, 2);
  for (int i = 0; i < 3; ++i) pooler.Add(states + 2 * i);
  return pooler.Finish(normalize);
}

TEST(Pooler, GivesTheMeanTheFirstTheLastOrAll) {
  EXPECT_THAT(Pooled(Pooling::kMean, false), ElementsAre(3.0f, 2.0f));
  EXPECT_THAT(Pooled(Pooling::kCls, false), ElementsAre(3.0f, 4.0f));
  EXPECT_THAT(Pooled(Pooling::kLast, false), ElementsAre(5.0f, 2.0f));
  EXPECT_THAT(Pooled(Pooling::kNone, false), ElementsAre(3.0f, 4.0f, 1.0f, 0.0f, 5.0f, 2.0f));
}

TEST(Pooler, NormalizesEachRow) {
  EXPECT_THAT(Pooled(Pooling::kCls, true), ElementsAre(FloatEq(0.6f), FloatEq(0.8f)));
  const float length = std::sqrt(29.0f);
  EXPECT_THAT(Pooled(Pooling::kNone, true),
              ElementsAre(FloatEq(0.6f), FloatEq(0.8f), 1.0f, 0.0f, FloatEq(5.0f / length), FloatEq(2.0f / length)));
}

TEST(Pooler, LeavesZeroAsItIs) {
  const float zeros[] = {0.0f, 0.0f};
  Pooler pooler(Pooling::kMean, 2);
  pooler.Add(zeros);
  EXPECT_THAT(pooler.Finish(true), ElementsAre(0.0f, 0.0f));
}

TEST(Pooling, IsReadByName) {
  EXPECT_EQ(*ParsePooling("cls"), Pooling::kCls);
  EXPECT_THAT(ParsePooling("max").status().message(), HasSubstr("'max'"));
}

Result<Pooling> OfFile(uint32_t type) {
  test::GgufBuilder builder;
  builder.AddString("general.architecture", "bert").Add<uint32_t>("bert.pooling_type", type);
  const std::vector<std::byte> bytes = builder.Build();
  ADIT_ASSIGN_OR_RETURN(const auto file, formats::GgufFile::Parse(bytes, "tiny.gguf"));
  return PoolingOf(*file);
}

TEST(Pooling, IsReadFromTheFile) {
  EXPECT_EQ(*OfFile(0), Pooling::kNone);
  EXPECT_EQ(*OfFile(1), Pooling::kMean);
  EXPECT_EQ(*OfFile(2), Pooling::kCls);
  EXPECT_EQ(*OfFile(3), Pooling::kLast);
  EXPECT_EQ(*OfFile(4), Pooling::kRank);
  EXPECT_EQ(OfFile(5).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(OfFile(5).status().message(), HasSubstr("bert.pooling_type is 5"));
}

}  // namespace
}  // namespace adit::engine
