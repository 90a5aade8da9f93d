#include "hub/model_ref.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::hub {
namespace {

TEST(ModelRef, HasAQuantisationAndARevisionOrNot) {
  for (const char* text : {"org/name", "org/name:Q4_K_M", "org/name@main", "o.r-g/n_a.me:q8_0@refs/pr/3"}) {
    const Result<ModelRef> ref = ParseModelRef(text);
    ASSERT_TRUE(ref.ok()) << ref.status().ToString();
    EXPECT_EQ(ref->ToString(), text);
  }
  const Result<ModelRef> whole = ParseModelRef("org/name:Q4_K_M@v1.0");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->repository, "org/name");
  EXPECT_EQ(whole->quant, "Q4_K_M");
  EXPECT_EQ(whole->revision, "v1.0");
}

TEST(ModelRef, NamesNothingOutsideAHub) {
  for (const char* text : {"", "name", "a/b/c", "/b", "a/", "../b", "a/..", "a/.b", "a/b:", "a/b@", "a/b:c/d",
                           "a/b@../c", "a/b@/c", "a b/c", "a/b:c:d", "-a/b", "a/b\n", "a/b..c", "a%2e/b"}) {
    EXPECT_EQ(ParseModelRef(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
  EXPECT_FALSE(ParseModelRef("a/" + std::string(97, 'b')).ok());
}

TEST(ModelRef, PathsStayBelowTheirFolder) {
  for (const char* path : {"a", "a/b.gguf", "a b", "a..b", "Q4/x-00001-of-00002.gguf"}) {
    EXPECT_TRUE(IsSafePath(path)) << path;
  }
  for (const char* path : {"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/..", ".a", "a/.b", "a\\b",
                           "a\nb", "a/b/c/d/e/f/g/h/i"}) {
    EXPECT_FALSE(IsSafePath(path)) << path;
  }
  EXPECT_FALSE(IsSafePath(std::string(513, 'a')));
}

}  // namespace
}  // namespace adit::hub
