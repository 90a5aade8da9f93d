#include "quant/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::quant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Mix, TheFirstRuleThatFitsCounts) {
  Mix mix;
  ASSERT_TRUE(mix.Add(R"(blk\.(0|1)\..*ffn_down=q8_0)").ok());
  ASSERT_TRUE(mix.Add("ffn_down Q6_K").ok());
  EXPECT_EQ(*mix.Find("blk.1.ffn_down.weight"), DType::kQ8_0);
  EXPECT_EQ(*mix.Find("blk.10.ffn_down.weight"), DType::kQ6_K);
  EXPECT_EQ(mix.Find("blk.1.ffn_up.weight"), nullptr);
}

TEST(Mix, ReadsFilesWithCommentsAndEmptyLines) {
  Mix mix;
  ASSERT_TRUE(mix.AddFile("m", "# all\n\n  attn_v \t q8_0  # values\r\n^output\\.weight$ = f16\n").ok());
  EXPECT_EQ(*mix.Find("blk.3.attn_v.weight"), DType::kQ8_0);
  EXPECT_EQ(*mix.Find("output.weight"), DType::kF16);
  EXPECT_EQ(mix.Find("blk.0.attn_output.weight"), nullptr);
}

TEST(Mix, SaysWhichLineIsWrongAndHow) {
  EXPECT_THAT(Mix().AddFile("m", "attn_v q8_0\nattn_v\n").message(), HasSubstr("m:2: 'attn_v' is no rule"));
  EXPECT_THAT(Mix().AddFile("m", "attn_v q9\n").message(), HasSubstr("m:1: rule 'attn_v q9': no type 'q9'"));
  EXPECT_THAT(Mix().Add("(attn q8_0").message(), HasSubstr("("));
  EXPECT_THAT(Mix().Add("attn iq2_s").message(), HasSubstr("no type 'iq2_s' to write"));
}

TEST(Mix, KnowsRulesThatNothingNeeded) {
  Mix mix;
  ASSERT_TRUE(mix.Add("attn_v q8_0").ok());
  ASSERT_TRUE(mix.Add("attn_w q8_0").ok());
  EXPECT_NE(mix.Find("blk.0.attn_v.weight"), nullptr);
  EXPECT_THAT(mix.Unused(), ElementsAre("attn_w"));
}

}  // namespace
}  // namespace adit::quant
