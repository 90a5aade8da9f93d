#ifndef ADIT_BASE_FAKE_ROOT_H_
#define ADIT_BASE_FAKE_ROOT_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"

namespace adit {

// For tests: a made-up machine, files of the system below a folder that goes with it.
class FakeRoot {
 public:
  FakeRoot() {
    std::string path = (std::filesystem::temp_directory_path() / "adit-root-XXXXXX").string();
    ADIT_CHECK(::mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  // `file` begins with a slash. What was there is overwritten.
  FakeRoot& Add(const std::string& file, const std::string& text) {
    const std::filesystem::path path = path_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return *this;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace adit

#endif  // ADIT_BASE_FAKE_ROOT_H_
