#include "server/api_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace adit::server {
namespace {

using ::testing::HasSubstr;

// SHA-256 of "secret".
constexpr const char* kSecretHash = "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

class ApiKeysTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/adit_keys_XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/keys";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& text) const { std::ofstream(path_) << text; }
  Status ErrorOf(const std::string& text) const {
    Write(text);
    return ApiKeys::Create({}, path_).status();
  }

  std::string folder_;
  std::string path_;
};

TEST_F(ApiKeysTest, WithoutKeysNoneIsRequired) {
  const auto keys = ApiKeys::Create({}, "");
  ASSERT_TRUE(keys.ok());
  EXPECT_FALSE((*keys)->required());
}

TEST_F(ApiKeysTest, KeysOfTheCommandLineMayDoEverything) {
  const auto keys = ApiKeys::Create({"secret", "other"}, "");
  ASSERT_TRUE(keys.ok());
  EXPECT_TRUE((*keys)->required());
  const std::optional<KeyHolder> holder = (*keys)->Find("other");
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->id, "key2");
  EXPECT_TRUE(holder->Has(Scope::kRead) && holder->Has(Scope::kInference) && holder->Has(Scope::kAdmin));
  EXPECT_FALSE((*keys)->Find("secre") || (*keys)->Find("") || (*keys)->Find("secret "));
  EXPECT_FALSE(ApiKeys::Create({""}, "").ok());
}

TEST_F(ApiKeysTest, AFileSaysWhoMayDoWhat) {
  Write("# keys\n\n" + std::string(kSecretHash) +
        " id=bob tenant=acme scopes=inference weight=2.5 rpm=60 concurrent=3 kv=3M delegate\r\n");
  const auto keys = ApiKeys::Create({"plain"}, path_);
  ASSERT_TRUE(keys.ok()) << keys.status().ToString();
  const std::optional<KeyHolder> holder = (*keys)->Find("secret");
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->id, "bob");
  EXPECT_EQ(holder->tenant, "acme");
  EXPECT_EQ(holder->weight, 2.5);
  EXPECT_EQ(holder->quota.requests_per_minute, 60);
  EXPECT_EQ(holder->quota.tokens_per_minute, 0);
  EXPECT_EQ(holder->quota.max_concurrent, 3);
  EXPECT_EQ(holder->quota.max_kv_bytes, 3 << 20);
  EXPECT_TRUE(holder->may_delegate && holder->Has(Scope::kInference) && holder->Has(Scope::kPublic));
  EXPECT_FALSE(holder->Has(Scope::kRead) || holder->Has(Scope::kAdmin));
  EXPECT_TRUE((*keys)->Find("plain"));
  EXPECT_EQ((*keys)->Tenants().size(), 2U);
}

TEST_F(ApiKeysTest, WrongFilesAreRefusedByLine) {
  EXPECT_EQ(ApiKeys::Create({}, path_).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(ErrorOf("\nsecret\n").message(), HasSubstr("line 2"));
  const std::string hash = kSecretHash;
  for (const std::string& line :
       {hash.substr(1), hash + "0", hash.substr(0, 70) + "g", hash + " scopes=all", hash + " scopes=", hash + " id=",
        hash + " id=a/b", hash + " weight=0", hash + " kv=0", hash + " kv=M", hash + " kv=5X", hash + " kv=99999999G",
        hash + " weight=x", hash + " weight=nan", hash + " rpm=0", hash + " tpm=x", hash + " colour=red"}) {
    EXPECT_EQ(ErrorOf(line).code(), StatusCode::kInvalidArgument) << line;
  }
}

TEST_F(ApiKeysTest, AChangedFileIsReadAgainAndAWrongOneIsNot) {
  Write(std::string(kSecretHash) + " id=one\n");
  const auto keys = ApiKeys::Create({}, path_);
  ASSERT_TRUE(keys.ok());
  Write(std::string(kSecretHash) + " id=second\n");
  EXPECT_TRUE((*keys)->Reload().ok());
  EXPECT_EQ((*keys)->Find("secret")->id, "second");
  Write("broken, and of another size");
  EXPECT_FALSE((*keys)->Reload().ok());
  EXPECT_EQ((*keys)->Find("secret")->id, "second");
}

}  // namespace
}  // namespace adit::server
