#include "hub/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::hub {
namespace {

TEST(Url, IsTakenApartAndPutTogether) {
  const Result<Url> plain = ParseUrl("http://127.0.0.1:8000/a/b?c=d#e");
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_FALSE(plain->is_tls);
  EXPECT_EQ(plain->host, "127.0.0.1");
  EXPECT_EQ(plain->port, 8000);
  EXPECT_EQ(plain->target, "/a/b?c=d");
  EXPECT_EQ(plain->ToString(), "http://127.0.0.1:8000/a/b?c=d");
  const Result<Url> secure = ParseUrl("https://hub.example.org");
  ASSERT_TRUE(secure.ok());
  EXPECT_TRUE(secure->is_tls);
  EXPECT_EQ(secure->port, 443);
  EXPECT_EQ(secure->Authority(), "hub.example.org");
  EXPECT_EQ(secure->target, "/");
  const Result<Url> v6 = ParseUrl("http://[::1]:81?x");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->Authority(), "[::1]:81");
  EXPECT_EQ(v6->target, "/?x");
}

TEST(Url, WhatIsNoneIsRefused) {
  for (const char* text : {"", "hub.example.org", "ftp://x", "http://", "http:///a", "http://a:", "http://a:0",
                           "http://a:65536", "http://a:8x", "http://user:pw@a/", "http://a b/", "http://a/b c",
                           "http://a/\r\nX: y", "http://[::1", "http://[::1]x", "http://a\x01"}) {
    EXPECT_EQ(ParseUrl(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(Url, LocationsMayBePathsOnTheSameServer) {
  const Url from = *ParseUrl("https://a.org:444/x/y?z");
  EXPECT_EQ(ParseLocation(from, "https://b.org/c?d")->ToString(), "https://b.org/c?d");
  EXPECT_EQ(ParseLocation(from, "//b.org/c")->ToString(), "https://b.org/c");
  EXPECT_EQ(ParseLocation(from, "/c")->ToString(), "https://a.org:444/c");
  EXPECT_EQ(ParseLocation(from, "c?e#f")->ToString(), "https://a.org:444/x/c?e");
  EXPECT_FALSE(ParseLocation(from, "/c d").ok());
  EXPECT_FALSE(ParseLocation(from, "/c\nd").ok());
  EXPECT_TRUE(from.SameServer(*ParseLocation(from, "/q")));
  EXPECT_FALSE(from.SameServer(*ParseUrl("http://a.org:444/")));
  EXPECT_FALSE(from.SameServer(*ParseUrl("https://a.org/")));
}

TEST(Url, PathsAreEscaped) { EXPECT_EQ(EscapePath("a b/c+\xC3\xA4?.gguf"), "a%20b/c%2B%C3%A4%3F.gguf"); }

}  // namespace
}  // namespace adit::hub
