// Tokenizers of every part that tokenizer.json may have, and what the `tokenizers` library made of texts with them
// (tests/goldens/tokenizer/make_json.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/detokenizer.h"
#include "tokenizer/json_document.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

const Json& Golden() {
  static const Json* const golden = [] {
    std::ifstream file(ADIT_SOURCE_DIR "/tests/goldens/tokenizer/pipelines.json");
    return new Json(Json::parse(file));
  }();
  return *golden;
}

// Some are written as what differs from another.
Json ModelOf(const std::string& name) {
  Json model = Golden()["models"][name];
  if (!model.contains("base")) return model;
  Json whole = Golden()["models"][model["base"].get<std::string>()];
  model.erase("base");
  whole.update(model);
  return whole;
}

std::unique_ptr<Tokenizer> MakeGolden(const Json& entry) {
  Json file = entry["file"];
  file["model"] = ModelOf(entry["model"]);
  const std::string text = file.dump();
  const auto document = JsonDocument::Parse(text, "golden");
  EXPECT_TRUE(document.ok()) << document.status().ToString();
  auto tokenizer = MakeTokenizerJson(document->root(), SideFiles(), "golden");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return tokenizer.ok() ? std::move(*tokenizer) : nullptr;
}

std::string Joined(const Tokenizer& tokenizer, const Ids& ids, bool with_special) {
  IncrementalDetokenizer detokenizer(tokenizer, with_special);
  std::string joined;
  for (const int32_t id : ids) {
    const std::string piece = detokenizer.Append(id);
    EXPECT_TRUE(IsValidUtf8(piece));
    joined += piece;
  }
  return joined + detokenizer.Finish();
}

bool IsControl(const Tokenizer& tokenizer, int32_t id) { return tokenizer.Type(id) == TokenType::kControl; }

class PipelineGolden : public testing::TestWithParam<size_t> {};

TEST_P(PipelineGolden, IdsAndTextEqualTheReference) {
  const Json& entry = Golden()["tokenizers"][GetParam()];
  const auto tokenizer = MakeGolden(entry);
  ASSERT_NE(tokenizer, nullptr);
  const Json& texts = Golden()["texts"];
  ASSERT_EQ(entry["cases"].size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i];
    const Json& golden = entry["cases"][i];
    SCOPED_TRACE(texts[i].dump());
    const Ids special = golden["ids"];
    EXPECT_EQ(tokenizer->Encode(text, /*parse_special=*/true, /*add_special=*/false), special);
    EXPECT_EQ(tokenizer->Encode(text, true, true), golden.value("full", special));
    // The library lets merges and scores turn text into a control token; here text stays text.
    const Ids plain = golden.value("plain", special);
    if (std::none_of(plain.begin(), plain.end(), [&](int32_t id) { return IsControl(*tokenizer, id); })) {
      EXPECT_EQ(tokenizer->Encode(text, false, false), plain);
    }
    for (const int32_t id : tokenizer->Encode(text, false, false)) EXPECT_FALSE(IsControl(*tokenizer, id)) << id;
    const auto decoded = tokenizer->Decode(special, /*with_special=*/true);
    ASSERT_TRUE(decoded.ok());
    // Null where the library gives no answer that could be compared.
    const Json wanted = golden.value("decoded", Json(text));
    if (!wanted.is_null()) {
      EXPECT_EQ(ReplaceInvalidUtf8(*decoded), wanted.get<std::string>());
    }
    EXPECT_EQ(Joined(*tokenizer, special, true), ReplaceInvalidUtf8(*decoded));
    EXPECT_EQ(Joined(*tokenizer, special, false), ReplaceInvalidUtf8(*tokenizer->Decode(special, false)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, PipelineGolden, testing::Range(size_t{0}, Golden()["tokenizers"].size()),
                         [](const auto& param_info) {
                           return Golden()["tokenizers"][param_info.param]["name"].template get<std::string>();
                         });

}  // namespace
}  // namespace adit::tokenizer
