#include "cli/model_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/show_json.h"
#include "support/gguf_builder.h"

namespace adit::cli {
namespace {

using ::testing::HasSubstr;

// A model of an architecture that no one knows, with a tokenizer of the same kind.
class ModelSummaryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    test::GgufBuilder builder;
    builder.AddString("general.architecture", "novel")
        .AddString("general.name", "Name \x1b[1m")
        .AddString("general.license", "other")
        .AddString("general.license.name", "own-terms")
        .Add<uint32_t>("novel.context_length", 4096)
        .Add<uint32_t>("novel.block_count", 3)
        .AddArray<uint32_t>("novel.attention.head_count_kv", {2, 8, 2})
        .AddArray<uint32_t>("novel.feed_forward_length", {64, 64, 64})
        .AddString("tokenizer.ggml.model", "novel")
        .AddString("tokenizer.chat_template", "{{ x }}")
        .AddArray<float>("novel.numbers", std::vector<float>(40, 0.5f))
        .AddTensorF32("a", {2, 4}, std::vector<float>(8))
        .AddTensor("b", DType::kQ8_0, {3, 32}, std::vector<std::byte>(3 * 34))
        .AddTensorF32("c", {1}, std::vector<float>(1));
    bytes_ = builder.Build();
    Result<std::unique_ptr<formats::GgufFile>> file = formats::GgufFile::Parse(bytes_, "novel.gguf");
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    file_ = std::move(file).value();
  }

  std::string Hyperparameter(std::string_view key) const {
    for (const cli::Hyperparameter& row : Summarize(*file_).hyperparameters) {
      if (row.key == key) return row.text;
    }
    return "no such row";
  }

  std::vector<std::byte> bytes_;
  std::unique_ptr<formats::GgufFile> file_;
};

TEST_F(ModelSummaryTest, CountsTensorsByType) {
  const ModelSummary summary = Summarize(*file_);
  EXPECT_EQ(summary.num_parameters, 8 + 96 + 1);
  EXPECT_EQ(summary.tensor_bytes, 8 * 4 + 3 * 34 + 4);
  ASSERT_EQ(summary.types.size(), 2u);
  EXPECT_EQ(summary.types[0].type, "Q8_0");
  EXPECT_EQ(summary.types[0].size_bytes, 102);
  EXPECT_EQ(summary.types[1].type, "F32");
  EXPECT_EQ(summary.types[1].num_tensors, 2);
  EXPECT_EQ(summary.types[1].num_elements, 9);
}

TEST_F(ModelSummaryTest, ReadsNumbersThatDifferFromLayerToLayer) {
  EXPECT_EQ(Hyperparameter("context_length"), "4096");
  EXPECT_EQ(Hyperparameter("attention.head_count_kv"), "2 to 8");
  EXPECT_EQ(Hyperparameter("feed_forward_length"), "64");
  EXPECT_EQ(Hyperparameter("expert_count"), "");
}

TEST_F(ModelSummaryTest, DescribesWhatItCannotRun) {
  const ModelSummary summary = Summarize(*file_);
  EXPECT_EQ(summary.architecture, "novel");
  EXPECT_EQ(summary.license, "own-terms");
  EXPECT_THAT(summary.cannot_run, HasSubstr("'novel'"));
  EXPECT_THAT(summary.tokenizer.error, HasSubstr("novel"));
}

TEST_F(ModelSummaryTest, ShowsValuesOnOneLine) {
  const auto text = [this](const char* key) { return ValueText(*file_->metadata().Find(key), 10); };
  EXPECT_EQ(text("general.name"), "Name ^[[1m");
  EXPECT_EQ(text("general.license.name"), "own-terms");
  EXPECT_EQ(text("novel.block_count"), "3");
  EXPECT_EQ(text("novel.attention.head_count_kv"), "[2, 8, 2]");
  EXPECT_EQ(text("novel.numbers"), "[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ...], 40 in all");
  EXPECT_EQ(ShapeText(*file_->Find("b")), "[3, 32]");
  EXPECT_EQ(ShapeText(*file_->Find("c")), "[1]");
}

TEST_F(ModelSummaryTest, GivesAllOfItAsJson) {
  const nlohmann::json json = nlohmann::json::parse(ModelJson(*file_, Summarize(*file_), /*whole_arrays=*/false));
  EXPECT_EQ(json["architecture"], "novel");
  EXPECT_EQ(json["runs"], false);
  EXPECT_EQ(json["parameters"], 105);
  EXPECT_EQ(json["hyperparameters"]["attention.head_count_kv"], nlohmann::json::parse("[2,8,2]"));
  EXPECT_EQ(json["types"][0]["type"], "Q8_0");
  EXPECT_EQ(json["chat_template"], "{{ x }}");
  EXPECT_EQ(json["tensors"][0]["shape"], nlohmann::json::parse("[2,4]"));
  EXPECT_EQ(json["metadata"]["novel.block_count"], 3);
  EXPECT_EQ(json["metadata"]["novel.numbers"]["length"], 40);
  const nlohmann::json whole = nlohmann::json::parse(ModelJson(*file_, Summarize(*file_), /*whole_arrays=*/true));
  EXPECT_EQ(whole["metadata"]["novel.numbers"].size(), 40u);
}

}  // namespace
}  // namespace adit::cli
