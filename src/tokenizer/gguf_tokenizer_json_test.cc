#include "tokenizer/gguf_tokenizer_json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "formats/json_text.h"
#include "tokenizer/test_models.h"
#include "tokenizer/tokenizer_json.h"

namespace adit::tokenizer {
namespace {

const char* const kJsonTexts[] = {
    "",
    "Hello, world! It's 12345 o'clock; they'll see.",
    "def f(x):\n\treturn x ** 2  # a comment\n\n\n    if x:\r\n",
    "Ünïcödé \xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E \xF0\x9F\x98\x80\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD e\xCC\x81",
    "  two spaces   three  and a tab\t\tend  ",
    "<|im_start|>user\nhi<|im_end|><bos><eos><unused5>[PAD151650]",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1234567890123 ----====++++ ...",
    "\xE2\x96\x81marked \xE2\x96\x81",
};

// The tokenizer.json of a model's file gives the ids that the file gives.
void ExpectTheSameIds(const std::string& path) {
  const auto file = formats::GgufFile::Open(path);
  ASSERT_TRUE(file.ok());
  const auto direct = Tokenizer::FromGguf((*file)->metadata());
  ASSERT_TRUE(direct.ok());
  const auto json = TokenizerJsonOfGguf((*file)->metadata());
  ASSERT_TRUE(json.ok()) << json.status().ToString();
  const auto config = TokenizerConfigOfGguf((*file)->metadata());
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  const std::string folder = testing::TempDir() + "gguf_tokenizer_json";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/tokenizer.json") << formats::JsonText(*json, /*indented=*/false);
  std::ofstream(folder + "/tokenizer_config.json") << formats::JsonText(*config, /*indented=*/true);
  const auto read = LoadTokenizerJson(folder);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  for (const char* text : kJsonTexts) {
    for (const bool parse_special : {false, true}) {
      const std::vector<int32_t> want = (*direct)->Encode(text, parse_special, /*add_special=*/true);
      const std::vector<int32_t> got = (*read)->Encode(text, parse_special, /*add_special=*/true);
      EXPECT_EQ(got, want) << text << ", special " << parse_special;
      EXPECT_EQ((*read)->Decode(got, false).value(), (*direct)->Decode(want, false).value()) << text;
    }
  }
  std::filesystem::remove_all(folder);
}

TEST(TokenizerJsonOfGguf, GivesTheIdsOfTheFile) {
  for (const char* name : {kSmolLm2, kQwenCoder, kGemma3}) {
    SCOPED_TRACE(name);
    const std::optional<std::string> path = FindModel(name);
    if (!path) GTEST_SKIP() << name << " is neither in models/ nor in ../models/";
    ExpectTheSameIds(*path);
  }
}

TEST(TokenizerJsonOfGguf, RefusesOtherKindsByName) {
  formats::GgufMetadata metadata(
      "x.gguf", {{"tokenizer.ggml.model", {.type = formats::GgufType::kString, .value = std::string("bert")}}});
  const auto refused = TokenizerJsonOfGguf(metadata);
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(refused.status().message().find("'bert'"), std::string::npos);
}

}  // namespace
}  // namespace adit::tokenizer
