#include "quant/scheme.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/gguf_builder.h"

namespace adit::quant {
namespace {

constexpr int kLayers = 18;

// Matrices of one row: the rules look at names, row lengths and a few keys.
std::vector<std::byte> Model(int64_t hidden, int64_t ffn, uint32_t heads, uint32_t kv_heads, bool tied) {
  test::GgufBuilder builder;
  builder.Add<std::string>("general.architecture", "llama")
      .Add<uint32_t>("llama.block_count", kLayers)
      .Add<uint32_t>("llama.attention.head_count", heads)
      .Add<uint32_t>("llama.attention.head_count_kv", kv_heads);
  const auto add = [&](const std::string& name, int64_t cols) {
    builder.AddTensorF32(name, {1, cols}, std::vector<float>(static_cast<size_t>(cols), 0.1f));
  };
  add("token_embd.weight", hidden);
  if (!tied) add("output.weight", hidden);
  builder.AddTensorF32("output_norm.weight", {8}, std::vector<float>(8, 1.0f));
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up"}) {
      add(prefix + name + ".weight", hidden);
    }
    add(prefix + "ffn_down.weight", ffn);
    builder.AddTensorF32(prefix + "attn_norm.weight", {8}, std::vector<float>(8, 1.0f));
  }
  return builder.Build();
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Where rows are no whole number of blocks of 256, IQ4_NL takes the place of llama.cpp's Q4_0, which has as many bits.
bool IsAsGood(DType got, DType wanted) { return got == wanted || (got == DType::kIQ4_NL && wanted == DType::kQ4_0); }

TEST(SchemeTypes, AreThoseOfLlamaCpp) {
  const std::map<std::string, std::vector<std::byte>> models = {{"gqa4", Model(256, 512, 8, 2, false)},
                                                                {"gqa2tied", Model(256, 512, 8, 4, true)},
                                                                {"odd", Model(288, 320, 9, 3, true)}};
  std::ifstream golden(ADIT_SOURCE_DIR "/tests/goldens/scheme_types.txt");
  int num_checked = 0;
  for (std::string line; std::getline(golden, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string model, scheme, kind, list;
    fields >> model >> scheme >> kind >> list;
    const Scheme* found = FindScheme(scheme);
    ASSERT_NE(found, nullptr) << scheme;
    const std::vector<std::string> wanted = SplitAtCommas(list);
    const auto file = formats::GgufFile::Parse(models.at(model), "x");
    const std::vector<DType> types = SchemeTypes(*found, **file, false);
    size_t layer = 0;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string_view name = (*file)->tensors()[i].name;
      if (!name.ends_with(kind + ".weight") || name.find("norm") != name.npos ||
          (kind == "output" && name != "output.weight")) {
        continue;
      }
      const DType type = *ParseDType(wanted[wanted.size() == 1 ? 0 : layer]);
      EXPECT_TRUE(IsAsGood(types[i], type)) << line << ": " << name << " is " << Traits(types[i]).name;
      ++layer;
      ++num_checked;
    }
    EXPECT_GE(layer, 1u) << line;
  }
  EXPECT_GT(num_checked, 6000);
}

TEST(SchemeTypes, NormsStay) {
  const auto bytes = Model(256, 512, 8, 2, false);
  const auto file = formats::GgufFile::Parse(bytes, "x");
  const std::vector<DType> types = SchemeTypes(*FindScheme("Q4_K_M"), **file, false);
  for (size_t i = 0; i < types.size(); ++i) {
    if (!(*file)->tensors()[i].name.ends_with("norm.weight")) continue;
    EXPECT_EQ(types[i], DType::kF32);
  }
}

TEST(SchemeTypes, KnownImportanceMakesSomeExceptionsNeedless) {
  const auto bytes = Model(256, 512, 8, 4, true);
  const auto file = formats::GgufFile::Parse(bytes, "x");
  const auto down = [&](const char* scheme, bool weighted) {
    const std::vector<DType> types = SchemeTypes(*FindScheme(scheme), **file, weighted);
    for (size_t i = 0; i < types.size(); ++i) {
      if ((*file)->tensors()[i].name == "blk.0.ffn_down.weight") return types[i];
    }
    return DType::kF32;
  };
  EXPECT_EQ(down("IQ4_XS", false), DType::kQ5_K);
  EXPECT_EQ(down("IQ4_XS", true), DType::kIQ4_XS);
  EXPECT_EQ(down("Q4_0", true), DType::kQ4_1);
}

TEST(FindScheme, KnowsNamesInAnyCaseAndShortForms) {
  EXPECT_EQ(FindScheme("q4_k_m")->name, "Q4_K_M");
  EXPECT_EQ(FindScheme("q4_k")->name, "Q4_K_M");
  EXPECT_EQ(FindScheme("Q5_K")->name, "Q5_K_M");
  EXPECT_EQ(FindScheme("q6_k")->file_type, 18u);
  EXPECT_EQ(FindScheme("q4_k_x"), nullptr);
  EXPECT_NE(SchemeNames().find("IQ4_XS, TQ1_0"), std::string::npos);
}

}  // namespace
}  // namespace adit::quant
