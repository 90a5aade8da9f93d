#include "tokenizer/test_models.h"

#include <filesystem>
#include <utility>

#include "formats/gguf.h"

namespace adit::tokenizer {

std::unique_ptr<Tokenizer> OpenTokenizer(const std::string& path) {
  auto file = formats::GgufFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (!file.ok()) return nullptr;
  auto tokenizer = Tokenizer::FromGguf((*file)->metadata());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return tokenizer.ok() ? std::move(*tokenizer) : nullptr;
}

std::optional<std::string> FindModel(const std::string& name) {
  for (const char* folder : {ADIT_SOURCE_DIR "/models/", ADIT_SOURCE_DIR "/../models/"}) {
    if (std::filesystem::exists(folder + name)) return folder + name;
  }
  return std::nullopt;
}

}  // namespace adit::tokenizer
