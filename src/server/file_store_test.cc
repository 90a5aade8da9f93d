#include "server/file_store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace adit::server {
namespace {

namespace fs = std::filesystem;

class FileStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/adit_files_XXXXXX";
    folder_ = std::string(::mkdtemp(name)) + "/inner";
  }
  void TearDown() override { fs::remove_all(fs::path(folder_).parent_path()); }

  std::unique_ptr<FileStore> Open(size_t max_bytes = 1000, double ttl_s = 3600) {
    auto store = FileStore::Open({.folder = folder_, .max_bytes = max_bytes, .ttl_s = ttl_s});
    EXPECT_TRUE(store.ok()) << store.status().ToString();
    return std::move(store).value();
  }
  static NewFile Of(const std::string& tenant) {
    return {.tenant = tenant, .filename = "../x.jsonl", .purpose = "batch"};
  }

  std::string folder_;
};

TEST_F(FileStoreTest, KeepsFilesOverItsEnd) {
  std::string id;
  {
    auto store = Open();
    id = store->Add(Of("a"), "hello\n")->id;
    ASSERT_TRUE(store->Append(id, "more\n").ok());
    ASSERT_TRUE(store->Add(Of("a"), "second").ok());
  }
  std::ofstream(folder_ + "/file-x.data") << "its description was never written";
  std::ofstream(folder_ + "/file-y.json.part") << "torn";
  std::ofstream(folder_ + "/file-z.json") << "not json";
  auto store = Open();
  const auto file = store->Find("a", id);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->filename, "../x.jsonl");
  EXPECT_EQ(file->bytes, 11u);
  EXPECT_EQ(*store->Read(id), "hello\nmore\n");
  const auto list = store->List("a");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].id, id) << "the latest is first";
  EXPECT_EQ(store->num_bytes(), 17u);
  EXPECT_FALSE(fs::exists(folder_ + "/file-x.data") || fs::exists(folder_ + "/file-y.json.part"));
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
}

TEST_F(FileStoreTest, TenantsDoNotSeeEachOther) {
  auto store = Open();
  const std::string id = store->Add(Of("a"), "x")->id;
  EXPECT_FALSE(store->Find("b", id));
  EXPECT_TRUE(store->List("b").empty());
  EXPECT_FALSE(store->Delete("b", id));
  EXPECT_FALSE(store->Find("a", "../inner/" + id));
  EXPECT_TRUE(store->Delete("a", id));
  EXPECT_FALSE(store->Find("a", id));
  EXPECT_EQ(store->num_bytes(), 0u);
}

TEST_F(FileStoreTest, RefusesWhatDoesNotFit) {
  auto store = Open(/*max_bytes=*/10);
  const std::string id = store->Add(Of("a"), "12345678")->id;
  EXPECT_EQ(store->Add(Of("a"), "123").status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(store->Append(id, "123").code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(store->Append(id, "90").ok());
  EXPECT_TRUE(store->Cut(id, 4).ok());
  EXPECT_EQ(*store->Read(id), "1234");
  EXPECT_TRUE(store->Add(Of("a"), "123456").ok());
}

TEST_F(FileStoreTest, ForgetsWhatIsTooOld) {
  auto store = Open();
  NewFile soon = Of("a");
  soon.ttl_s = 0;
  const std::string id = store->Add(soon, "x")->id;
  const std::string kept = store->Add(Of("a"), "y")->id;
  EXPECT_FALSE(store->Find("a", id));
  EXPECT_EQ(store->Read(id).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(store->Find("a", kept));
  EXPECT_FALSE(fs::exists(folder_ + "/" + id + ".data"));
}

TEST_F(FileStoreTest, AFullDiskLeavesWhatThereWas) {
  auto store = Open(1 << 20);
  const std::string id = store->Add(Of("a"), "before\n")->id;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = {.rlim_cur = 2000, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status appended = store->Append(id, std::string(5000, 'x'));
  const Result<StoredFile> added = store->Add(Of("a"), std::string(5000, 'y'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(appended.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(added.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(*store->Read(id), "before\n");
  EXPECT_EQ(store->num_bytes(), 7u);
  size_t num_files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) num_files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(num_files, 2u);
}

}  // namespace
}  // namespace adit::server
