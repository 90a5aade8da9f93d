#include "hub/hub_client.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::hub {
namespace {

using ::testing::HasSubstr;

const std::string kSha(64, 'a');
const std::string kBlob(40, 'b');

Status ParseOne(const std::string& entry, std::vector<HubFile>& files) {
  return ParseTreePage("[" + entry + "]", files);
}

TEST(HubClient, ReadsListings) {
  std::vector<HubFile> files;
  const std::string page = fmt::format(
      R"([{{"type":"directory","path":"x","oid":"{1}"}},
          {{"type":"file","path":"m.gguf","size":10,"oid":"{1}","lfs":{{"oid":"{0}","size":1000,"pointerSize":130}}}},
          {{"type":"file","path":".gitattributes","size":5,"oid":"{1}"}},
          {{"type":"file","path":"x/config.json","size":5,"oid":"{1}","unknown":[1,{{}}]}}])",
      kSha, kBlob);
  ASSERT_TRUE(ParseTreePage(page, files).ok());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "m.gguf");
  EXPECT_EQ(files[0].size_bytes, 1000);
  EXPECT_EQ(files[0].sha256, kSha);
  EXPECT_EQ(files[1].path, "x/config.json");
  EXPECT_EQ(files[1].git_blob, kBlob);
  EXPECT_EQ(files[1].sha256, "");
}

TEST(HubClient, RefusesListingsThatLeadElsewhere) {
  for (const char* path : {"../m.gguf", "/etc/passwd", "a/../../b", "a\\\\b", "", "..", "a/.."}) {
    std::vector<HubFile> files;
    const Status status =
        ParseOne(fmt::format(R"({{"type":"file","path":"{}","size":1,"oid":"{}"}})", path, kBlob), files);
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << path;
    EXPECT_TRUE(files.empty());
  }
}

TEST(HubClient, RefusesWhatMakesNoSense) {
  std::vector<HubFile> files;
  EXPECT_FALSE(ParseTreePage("", files).ok());
  EXPECT_FALSE(ParseTreePage("{}", files).ok());
  EXPECT_FALSE(ParseOne(fmt::format(R"({{"type":"file","path":"a","oid":"{}"}})", kBlob), files).ok());
  EXPECT_FALSE(ParseOne(fmt::format(R"({{"type":"file","path":"a","size":-1,"oid":"{}"}})", kBlob), files).ok());
  EXPECT_FALSE(ParseOne(R"({"type":"file","path":"a","size":1,"oid":"xyz"})", files).ok());
  EXPECT_FALSE(ParseOne(R"({"type":"file","path":"a","size":1,"lfs":{"oid":"short","size":1}})", files).ok());
  EXPECT_TRUE(files.empty());
  EXPECT_FALSE(ParseCommit("{}").ok());
  EXPECT_FALSE(ParseCommit(R"({"sha":"../../x"})").ok());
  EXPECT_EQ(*ParseCommit(R"({"sha":")" + kBlob + "\"}"), kBlob);
}

TEST(HubClient, PagesFollowEachOther) {
  EXPECT_EQ(NextPage(R"(<https://h/x?cursor=a%3D>; rel="next")"), "https://h/x?cursor=a%3D");
  EXPECT_EQ(NextPage(R"(</a>; rel="prev", </b>; rel="next")"), "/b");
  EXPECT_EQ(NextPage(R"(</a>; rel="prev")"), "");
  EXPECT_EQ(NextPage("<broken"), "");
  EXPECT_EQ(NextPage(""), "");
}

TEST(HubClient, SaysWhenNobodyIsThere) {
  EXPECT_FALSE(HubClient::Create({.endpoint = "hub"}).ok());
  const Result<HubClient> hub = HubClient::Create({.endpoint = "http://127.0.0.1:1"});
  ASSERT_TRUE(hub.ok());
  const Result<HubModel> model = hub->Describe({.repository = "a/b"});
  EXPECT_EQ(model.status().code(), StatusCode::kIo);
  EXPECT_THAT(model.status().message(), HasSubstr("127.0.0.1:1: cannot connect: Connection refused"));
}

}  // namespace
}  // namespace adit::hub
