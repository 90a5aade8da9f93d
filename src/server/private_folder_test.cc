#include "server/private_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace adit::server {
namespace {

namespace fs = std::filesystem;

// Where temporary folders are made during the test.
class PrivateFolderTest : public testing::Test {
 protected:
  PrivateFolderTest() {
    std::string name = testing::TempDir() + "private_folder_XXXXXX";
    place_ = ::mkdtemp(name.data());
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", place_.c_str(), 1);
  }
  ~PrivateFolderTest() override {
    if (before_) {
      ::setenv("TMPDIR", before_->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
    fs::remove_all(place_);
  }
  int NumFolders() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(place_)) ++count;
    return count;
  }

  std::string place_;
  std::optional<std::string> before_;
};

TEST_F(PrivateFolderTest, ATemporaryOneGoes) {
  std::string path;
  {
    const auto folder = PrivateFolder::Make("", "things");
    ASSERT_TRUE(folder.ok()) << folder.status().ToString();
    path = folder->path();
    struct stat info = {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::ofstream(path + "/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PrivateFolderTest, ANamedOneStays) {
  const std::string path = place_ + "/a/b";
  ASSERT_TRUE(PrivateFolder::Make(path, "things").ok());
  EXPECT_TRUE(fs::exists(path));
  std::ofstream(place_ + "/file") << "text";
  EXPECT_EQ(PrivateFolder::Make(place_ + "/file", "things").status().code(), StatusCode::kIo);
}

TEST_F(PrivateFolderTest, WhatAKilledServerLeftIsRemovedByTheNext) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto folder = PrivateFolder::Make("", "things");
    std::ofstream(folder->path() + "/prompt") << "text";
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(NumFolders(), 1);
  const fs::path left = fs::directory_iterator(place_)->path();
  // What is young may be about to be locked.
  { ASSERT_TRUE(PrivateFolder::Make("", "things").ok()); }
  EXPECT_TRUE(fs::exists(left));
  const auto an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(left, an_hour_ago);
  const auto other_kind = PrivateFolder::Make("", "others");
  EXPECT_TRUE(fs::exists(left));
  const auto next = PrivateFolder::Make("", "things");
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(fs::exists(left));
  // One that is held stays, however old.
  fs::last_write_time(next->path(), an_hour_ago);
  const auto another = PrivateFolder::Make("", "things");
  EXPECT_TRUE(fs::exists(next->path()));
}

}  // namespace
}  // namespace adit::server
