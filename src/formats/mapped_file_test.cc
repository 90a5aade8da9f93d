#include "formats/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "support/gguf_builder.h"

namespace adit::formats {
namespace {

using ::testing::HasSubstr;

// A file that is gone when the test ends.
class TempFile {
 public:
  TempFile(const std::string& name, std::span<const std::byte> bytes)
      : path_(testing::TempDir() + "adit_mapped_file_test_" + name) {
    test::WriteFile(path_, bytes);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::byte> Pattern(size_t num_bytes) {
  std::vector<std::byte> bytes(num_bytes);
  for (size_t i = 0; i < num_bytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  return bytes;
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const std::vector<std::byte> bytes = Pattern(10'001);
  const TempFile temp("bytes", bytes);
  const auto file = MappedFile::Open(temp.path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->size_bytes(), bytes.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), file->bytes().begin(), file->bytes().end()));
}

TEST(MappedFile, MovesWithItsBytes) {
  const TempFile temp("move", Pattern(100));
  auto first = MappedFile::Open(temp.path());
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  const std::byte* data = first->bytes().data();
  MappedFile second = std::move(*first);
  EXPECT_EQ(second.bytes().data(), data);
  auto third = MappedFile::Open(temp.path());
  ASSERT_TRUE(third.ok());
  *third = std::move(second);
  EXPECT_EQ(third->bytes().data(), data);
  EXPECT_EQ(third->size_bytes(), 100u);
}

TEST(MappedFile, NamesAMissingFile) {
  for (const char* path : {"/nonexistent/model.gguf", "/proc/self/statm/x", ""}) {
    const auto file = MappedFile::Open(path);
    EXPECT_EQ(file.status().code(), StatusCode::kNotFound) << path;
    EXPECT_THAT(file.status().message(), HasSubstr(std::string("'") + path + "'"));
  }
}

TEST(MappedFile, RefusesAFolder) {
  const auto file = MappedFile::Open(testing::TempDir());
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("directory"));
}

TEST(MappedFile, RefusesAnEmptyFile) {
  const TempFile temp("empty", {});
  const auto file = MappedFile::Open(temp.path());
  EXPECT_EQ(file.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(file.status().message(), HasSubstr("empty"));
}

TEST(MappedFile, RefusesAFifoWithoutWaitingForAWriter) {
  const std::string path = testing::TempDir() + "adit_mapped_file_test_fifo";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto file = MappedFile::Open(path);
  std::filesystem::remove(path);
  EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(file.status().message(), HasSubstr("not a regular file"));
}

TEST(MappedFile, SaysWhyAFileCannotBeOpened) {
  const auto file = MappedFile::Open(testing::TempDir() + std::string(5000, 'n'));
  EXPECT_EQ(file.status().code(), StatusCode::kIo);
  EXPECT_THAT(file.status().message(), HasSubstr("File name too long"));
}

TEST(MappedFile, ReleaseGivesPagesBackAndTheyReadAgain) {
  const std::vector<std::byte> bytes = Pattern(size_t{32} << 20);
  const TempFile temp("release", bytes);
  const auto file = MappedFile::Open(temp.path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), file->bytes().begin()));
  const int64_t before = ResidentBytes();
  file->Release(file->bytes());
  EXPECT_LT(ResidentBytes(), before - (int64_t{24} << 20));
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), file->bytes().begin()));
}

TEST(MappedFile, CopyReadsTheFileAndLeavesItsPagesOut) {
  const std::vector<std::byte> bytes = Pattern(size_t{32} << 20);
  const TempFile temp("copy", bytes);
  const auto file = MappedFile::Open(temp.path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const int64_t before = ResidentBytes();
  std::vector<std::byte> copy(700);
  for (size_t begin = 0; begin + copy.size() <= bytes.size(); begin += 65537) {
    file->Copy(file->bytes().subspan(begin, copy.size()), copy.data());
    ASSERT_TRUE(std::equal(copy.begin(), copy.end(), bytes.begin() + static_cast<ptrdiff_t>(begin))) << begin;
  }
  file->Copy(file->bytes().last(copy.size()), copy.data());
  EXPECT_TRUE(std::equal(copy.begin(), copy.end(), bytes.end() - static_cast<ptrdiff_t>(copy.size())));
  EXPECT_LT(ResidentBytes(), before + (int64_t{4} << 20));
}

// Neighbouring tensors share pages, so a range without a whole page releases nothing, and odd ranges are fine.
TEST(MappedFile, ReleaseTakesAnyRange) {
  const std::vector<std::byte> bytes = Pattern(5 * 4096 + 123);
  const TempFile temp("ranges", bytes);
  const auto file = MappedFile::Open(temp.path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  for (size_t begin = 0; begin <= bytes.size(); begin += 617) {
    for (size_t size = 0; begin + size <= bytes.size(); size += 1021) {
      file->Release(file->bytes().subspan(begin, size));
    }
    file->Release(file->bytes().subspan(begin));
  }
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), file->bytes().begin()));
}

}  // namespace
}  // namespace adit::formats
