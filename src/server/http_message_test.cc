#include "server/http_message.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace adit::server {
namespace {

TEST(HttpMessage, TargetsAreTakenApart) {
  std::string path;
  std::string query;
  EXPECT_TRUE(SplitTarget("/a/b?c=d?e", path, query));
  EXPECT_EQ(path, "/a/b");
  EXPECT_EQ(query, "c=d?e");
  EXPECT_TRUE(SplitTarget("/%2Fa%20b%41", path, query));
  EXPECT_EQ(path, "//a bA");
  EXPECT_EQ(query, "");
  EXPECT_TRUE(SplitTarget("http://host:1/x?y", path, query));
  EXPECT_EQ(path, "/x");
  EXPECT_TRUE(SplitTarget("https://host", path, query));
  EXPECT_EQ(path, "/");
  for (const char* wrong : {"", "*", "host:443", "/a%", "/a%4", "/a%zz"}) {
    EXPECT_FALSE(SplitTarget(wrong, path, query)) << wrong;
  }
}

TEST(HttpMessage, HeadsSayHowTheBodyComes) {
  HttpHead head{.status = 404, .headers = {{"x-a", "b"}}};
  EXPECT_EQ(FormatHead(head, 5, false, true),
            "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nx-a: b\r\nContent-Length: 5\r\n"
            "Connection: keep-alive\r\n\r\n");
  head.headers.clear();
  EXPECT_EQ(FormatHead(head, SIZE_MAX, true, false),
            "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n\r\n");
}

}  // namespace
}  // namespace adit::server
