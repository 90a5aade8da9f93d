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

std::unique_ptr<Tokenizer> MakeTokenizer(MetadataValues values) {
  auto tokenizer = Tokenizer::FromGguf(ToMetadata(std::move(values)));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return tokenizer.ok() ? std::move(*tokenizer) : nullptr;
}

std::vector<std::string> Pieces(const Tokenizer& tokenizer, const std::string& text, bool parse_special) {
  std::vector<std::string> pieces;
  for (const int32_t id : tokenizer.Encode(text, parse_special, false)) pieces.emplace_back(tokenizer.Piece(id));
  return pieces;
}

std::string DecodeAll(const Tokenizer& tokenizer, std::span<const int32_t> ids, bool with_special) {
  auto text = tokenizer.Decode(ids, with_special);
  EXPECT_TRUE(text.ok());
  return text.ok() ? *text : std::string();
}

std::optional<std::string> FindModel(const std::string& name) {
  for (const char* folder : {ADIT_SOURCE_DIR "/models/", ADIT_SOURCE_DIR "/../models/"}) {
    if (std::filesystem::exists(folder + name)) return folder + name;
  }
  return std::nullopt;
}

}  // namespace adit::tokenizer
