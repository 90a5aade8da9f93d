// Encodings and decodings that other implementations gave for real and for tiny vocabularies, read from the shared
// oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "tokenizer/test_models.h"
#include "tokenizer/test_vocabulary.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_json.h"

namespace adit::tokenizer {
namespace {

using Json = nlohmann::json;

const std::string kOracle = ADIT_SHARED_DIR "/oracle";

std::optional<Json> ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  return Json::parse(file);
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// A case of the oracle: ids of one text under the three ways to encode it.
void CheckIds(const Tokenizer& tokenizer, const std::string& text, const Json& plain, const Json& special,
              const Json& full) {
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(tokenizer.Encode(text, /*parse_special=*/false, /*add_special=*/false), plain.get<Ids>());
  EXPECT_EQ(tokenizer.Encode(text, /*parse_special=*/true, /*add_special=*/false), special.get<Ids>());
  EXPECT_EQ(tokenizer.Encode(text, /*parse_special=*/true, /*add_special=*/true), full.get<Ids>());
}

void CheckDecode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, const std::string& expected) {
  auto decoded = tokenizer.Decode(ids, /*with_special=*/true);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, expected);
}

struct RealVocabulary {
  std::string golden;
  std::string model;
};

class RealGolden : public testing::TestWithParam<RealVocabulary> {};

// Bytes that no tokenizer can read: the reference throws, this one encodes four replacement characters.
const std::string kAboveUnicode = "f4908080";

TEST_P(RealGolden, IdsAndTextEqualTheReference) {
  const auto golden = ReadJson(kOracle + "/tokenizer/" + GetParam().golden);
  if (!golden) GTEST_SKIP() << "no oracle at " << kOracle;
  ADIT_OPEN_MODEL_OR_SKIP(tokenizer, GetParam().model);
  EXPECT_EQ(tokenizer->vocab_size(), (*golden)["n_vocab"].get<int64_t>());
  for (const Json& entry : (*golden)["cases"]) {
    const std::string hex = entry["hex"];
    SCOPED_TRACE("case " + entry["i"].dump() + " " + hex);
    const std::string text = FromHex(hex);
    if (entry["plain"].is_object()) {
      ASSERT_EQ(hex, kAboveUnicode) << "unknown error in the oracle: " << entry["plain"].dump();
      EXPECT_EQ(tokenizer->Encode(text, false, false), tokenizer->Encode("\uFFFD\uFFFD\uFFFD\uFFFD", false, false));
      continue;
    }
    CheckIds(*tokenizer, text, entry["plain"], entry["special"], entry["full"]);
    CheckDecode(*tokenizer, entry["special"], entry["detok_equal"].get<bool>() ? text : FromHex(entry["detok_hex"]));
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, RealGolden,
                         testing::Values(RealVocabulary{"smollm2.json", kSmolLm2},
                                         RealVocabulary{"qwen2.5.json", kQwenCoder},
                                         RealVocabulary{"gemma3.json", kGemma3}),
                         [](const auto& param_info) {
                           std::string name = param_info.param.golden.substr(0, param_info.param.golden.find(".json"));
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

struct TinyVocabulary {
  std::string kind;
  std::string model;
};

class TinyGolden : public testing::TestWithParam<TinyVocabulary> {};

TEST_P(TinyGolden, IdsAndTextEqualTheReference) {
  const auto golden = ReadJson(kOracle + "/tokenizer/tiny_" + GetParam().kind + ".json");
  if (!golden) GTEST_SKIP() << "no oracle at " << kOracle;
  const auto tokenizer = OpenTokenizer(kOracle + "/models/" + GetParam().model);
  ASSERT_NE(tokenizer, nullptr);
  for (const Json& entry : (*golden)["cases"]) {
    SCOPED_TRACE("case " + entry["i"].dump());
    const std::string text = entry["text"];
    if (entry.contains("llamacpp_plain")) {
      // The model's own tokenizer composes characters (NFC) first, or calls words of more than 100 characters unknown;
      // a GGUF file has no word for that, and its readers don't.
      CheckIds(*tokenizer, text, entry["llamacpp_plain"], entry["llamacpp_special"], entry["llamacpp_full"]);
      if (GetParam().kind != "bert") CheckDecode(*tokenizer, entry["llamacpp_special"], text);
      continue;
    }
    CheckIds(*tokenizer, text, entry["plain"], entry["special"], entry["full"]);
    CheckDecode(*tokenizer, entry["special"], entry["decode"].is_boolean() ? text : entry["decode"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, TinyGolden,
                         testing::Values(TinyVocabulary{"gpt2", "gpt2/model-f32.gguf"},
                                         TinyVocabulary{"llama2", "llama_spm/model-bf16.gguf"},
                                         TinyVocabulary{"llama3", "llama/model-f32.gguf"},
                                         TinyVocabulary{"qwen2", "qwen2/model-f32.gguf"},
                                         TinyVocabulary{"gemma", "gemma/model-bf16.gguf"},
                                         TinyVocabulary{"bert", "bert/model-f32.gguf"}),
                         [](const auto& param_info) { return param_info.param.kind; });

class TinyJsonGolden : public testing::TestWithParam<TinyVocabulary> {};

TEST_P(TinyJsonGolden, IdsAndTextEqualTheReference) {
  const auto golden = ReadJson(kOracle + "/tokenizer/tiny_" + GetParam().kind + ".json");
  if (!golden) GTEST_SKIP() << "no oracle at " << kOracle;
  const auto tokenizer = LoadTokenizerJson(kOracle + "/models/" + GetParam().model);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  for (const Json& entry : (*golden)["cases"]) {
    SCOPED_TRACE("case " + entry["i"].dump());
    const std::string text = entry["text"];
    CheckIds(**tokenizer, text, entry["plain"], entry["special"], entry["full"]);
    CheckDecode(**tokenizer, entry["special"],
                entry["decode"].is_boolean() ? text : entry["decode"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, TinyJsonGolden,
                         testing::Values(TinyVocabulary{"gpt2", "gpt2"}, TinyVocabulary{"llama2", "llama_spm"},
                                         TinyVocabulary{"llama3", "llama"}, TinyVocabulary{"qwen2", "qwen2"},
                                         TinyVocabulary{"gemma", "gemma"}, TinyVocabulary{"bert", "bert"}),
                         [](const auto& param_info) { return param_info.param.kind; });

// Every GGUF file of the oracle, of all families.
TEST(OracleModels, Load) {
  const std::filesystem::path folder = kOracle + "/models";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no oracle at " << kOracle;
  int num_loaded = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    auto file = formats::GgufFile::Open(entry.path());
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    const auto tokenizer = Tokenizer::FromGguf((*file)->metadata());
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
    ++num_loaded;
  }
  EXPECT_GE(num_loaded, 36);
}

// A metadata value as the goldens in the tree write it.
formats::GgufValue ValueOf(const Json& value) {
  if (value.is_boolean()) return FlagValue(value);
  if (value.is_number()) return IdValue(value);
  if (value.is_string()) return TextValue(value);
  if (value.at(0).is_string()) return TextsValue(value);
  if (value.at(0).is_number_float()) return FloatsValue(value);
  return IntsValue(value);
}

class TreeGolden : public testing::TestWithParam<std::string> {};

TEST_P(TreeGolden, IdsAndTextEqualTheReference) {
  const auto golden = ReadJson(ADIT_SOURCE_DIR "/tests/goldens/tokenizer/tiny_" + GetParam() + ".json");
  ASSERT_TRUE(golden);
  MetadataValues values;
  for (const auto& [key, value] : (*golden)["metadata"].items()) values[key] = ValueOf(value);
  const auto tokenizer = Tokenizer::FromGguf(ToMetadata(std::move(values)));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  ASSERT_GT((*golden)["cases"].size(), 50u);
  for (const Json& entry : (*golden)["cases"]) {
    SCOPED_TRACE(entry["text"].dump());
    CheckIds(**tokenizer, entry["text"], entry["plain"], entry["special"], entry["full"]);
    CheckDecode(**tokenizer, entry["special"], entry["decoded"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, TreeGolden, testing::Values("gpt2", "llama2", "llama3", "qwen2", "gemma"),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace adit::tokenizer
