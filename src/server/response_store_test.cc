#include "server/response_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace adit::server {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ResponseStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/adit_store_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<ResponseStore> Open(size_t max_bytes = 1000, double ttl_s = 1000) {
    auto store = ResponseStore::Open({.folder = folder_, .max_bytes = max_bytes, .ttl_s = ttl_s});
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return std::move(store).value();
  }

  std::string folder_;
};

TEST_F(ResponseStoreTest, KeepsTextsAcrossItsOwnLife) {
  {
    const auto store = Open();
    ASSERT_TRUE(store->Put("a", "one").ok());
    ASSERT_TRUE(store->Put("b", "two").ok());
    ASSERT_TRUE(store->Put("a", "another").ok());
    EXPECT_EQ(store->Get("a"), "another");
    EXPECT_EQ(store->num_bytes(), 10U);
  }
  std::ofstream(folder_ + "/c.part") << "broken off";
  const auto store = Open();
  EXPECT_EQ(store->num_texts(), 2U);
  EXPECT_EQ(store->Get("b"), "two");
  EXPECT_FALSE(fs::exists(folder_ + "/c.part"));
  EXPECT_TRUE(store->Delete("b"));
  EXPECT_FALSE(store->Delete("b"));
  EXPECT_EQ(store->Get("b"), std::nullopt);
  EXPECT_FALSE(fs::exists(folder_ + "/b.json"));
}

TEST_F(ResponseStoreTest, TheOldestMakeRoom) {
  const auto store = Open(/*max_bytes=*/100);
  const std::string text(40, 'x');
  ASSERT_TRUE(store->Put("a", text).ok());
  ASSERT_TRUE(store->Put("b", text).ok());
  ASSERT_TRUE(store->Put("a", text).ok()) << "written again: now the newest";
  ASSERT_TRUE(store->Put("c", text).ok());
  EXPECT_EQ(store->Get("b"), std::nullopt);
  EXPECT_TRUE(store->Get("a").has_value());
  EXPECT_EQ(store->num_bytes(), 80U);
  const Status large = store->Put("a", std::string(101, 'x'));
  EXPECT_EQ(large.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(store->Get("a"), text);
  ASSERT_TRUE(store->Put("a", std::string(100, 'y')).ok());
  EXPECT_EQ(store->num_texts(), 1U);
}

TEST_F(ResponseStoreTest, WhatIsTooOldIsGone) {
  ASSERT_TRUE(Open()->Put("a", "text").ok());
  EXPECT_EQ(Open(1000, /*ttl_s=*/-1)->Get("a"), std::nullopt);
  EXPECT_FALSE(fs::exists(folder_ + "/a.json"));
}

TEST_F(ResponseStoreTest, AFullDiskIsAnErrorAndLosesNothing) {
  const auto store = Open();
  ASSERT_TRUE(store->Put("a", "text").ok());
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = store->Put("a", std::string(100, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("responses cannot be kept: "));
  EXPECT_EQ(store->Get("a"), "text");
  EXPECT_FALSE(fs::exists(folder_ + "/a.json.part"));
  EXPECT_TRUE(store->Put("a", std::string(100, 'x')).ok());
}

TEST_F(ResponseStoreTest, IdsAreNoPaths) {
  const auto store = Open();
  for (const char* id : {"", "../x", "a/b", ".", "a.b", "a b"}) {
    EXPECT_FALSE(store->Put(id, "text").ok()) << id;
    EXPECT_EQ(store->Get(id), std::nullopt);
  }
}

TEST_F(ResponseStoreTest, AFolderOfItsOwnGoesWithIt) {
  auto store = ResponseStore::Open({});
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->Put("a", "text").ok());
  EXPECT_EQ((*store)->Get("a"), "text");
}

}  // namespace
}  // namespace adit::server
