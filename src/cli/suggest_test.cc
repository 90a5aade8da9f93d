#include "cli/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace adit::cli {
namespace {

const std::vector<std::string>& Known() {
  static const std::vector<std::string> known = {"run",    "show",    "tokenize", "detokenize",
                                                 "--temp", "--top-k", "--top-p"};
  return known;
}

TEST(Suggest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(NearestWord("rnu", Known()), "run");
  EXPECT_EQ(NearestWord("runn", Known()), "run");
  EXPECT_EQ(NearestWord("shw", Known()), "show");
  EXPECT_EQ(NearestWord("tokenise", Known()), "tokenize");
  EXPECT_EQ(NearestWord("--tmep", Known()), "--temp");
  EXPECT_EQ(NearestWord("--top_k", Known()), "--top-k");
}

TEST(Suggest, FindsNothingWhereNothingIsNear) {
  EXPECT_EQ(NearestWord("frobnicate", Known()), "");
  EXPECT_EQ(NearestWord("", Known()), "");
  EXPECT_EQ(NearestWord(std::string(100000, 'x'), Known()), "");
  EXPECT_EQ(NearestWord("run", {}), "");
}

}  // namespace
}  // namespace adit::cli
