#include "models/hf_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "formats/hf_folder.h"
#include "models/hf_tensors.h"
#include "models/registry.h"
#include "support/gguf_builder.h"
#include "support/safetensors_builder.h"

namespace adit::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A Llama of one layer: 2 heads of 4 dimensions, 1 KV head, hidden 8, ffn 8, 3 tokens.
class HfModelTest : public testing::Test {
 protected:
  HfModelTest()
      : folder_(testing::TempDir() + "hf_model_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    config_ = {{"model_type", "\"llama\""},       {"hidden_size", "8"},         {"num_hidden_layers", "1"},
               {"num_attention_heads", "2"},      {"num_key_value_heads", "1"}, {"intermediate_size", "8"},
               {"max_position_embeddings", "64"}, {"vocab_size", "3"},          {"rms_norm_eps", "1e-5"},
               {"hidden_act", "\"silu\""}};
    Set("model.embed_tokens.weight", {3, 8});
    Set("model.norm.weight", {8});
    Set("lm_head.weight", {3, 8});
    const std::string layer = "model.layers.0.";
    Set(layer + "input_layernorm.weight", {8});
    Set(layer + "post_attention_layernorm.weight", {8});
    Set(layer + "self_attn.q_proj.weight", {8, 8});
    Set(layer + "self_attn.k_proj.weight", {4, 8});
    Set(layer + "self_attn.v_proj.weight", {4, 8});
    Set(layer + "self_attn.o_proj.weight", {8, 8});
    for (const char* name : {"gate", "up", "down"}) Set(layer + "mlp." + name + "_proj.weight", {8, 8});
  }
  ~HfModelTest() override { std::filesystem::remove_all(folder_); }

  // A tensor whose elements are 0, 1, 2, ...
  void Set(const std::string& name, const std::vector<int64_t>& shape) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    tensors_[name] = {shape, values};
  }

  void WriteConfig() const {
    std::string text = "{";
    for (const auto& [key, value] : config_) text += (text.size() > 1 ? ", \"" : "\"") + key + "\": " + value;
    text += "}";
    test::WriteFile(folder_ + "/config.json", std::as_bytes(std::span(text)));
  }

  Result<std::unique_ptr<formats::GgufFile>> Open() const {
    WriteConfig();
    test::SafetensorsBuilder builder;
    for (const auto& [name, tensor] : tensors_) builder.AddF32(name, tensor.first, tensor.second);
    test::WriteFile(folder_ + "/model.safetensors", builder.Build());
    return OpenHfModel(folder_);
  }

  // That of the folder, or of the spec that is read from it.
  Status Error() const {
    const auto model = Open();
    if (!model.ok()) return model.status();
    return SpecFromGguf(**model).status();
  }

  std::string folder_;
  std::map<std::string, std::string> config_;  // values as JSON
  std::map<std::string, std::pair<std::vector<int64_t>, std::vector<float>>> tensors_;
};

// The first element of each row, of a matrix whose elements count up.
std::vector<int> RowOrder(const formats::GgufFile& model, const char* name) {
  const formats::TensorInfo& tensor = *model.Find(name);
  std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
  formats::ReadFloats(model, tensor, values.data());
  std::vector<int> order;
  for (int64_t row = 0; row < tensor.num_rows(); ++row) {
    order.push_back(static_cast<int>(values[static_cast<size_t>(row * tensor.row_elements())] /
                                     static_cast<float>(tensor.row_elements())));
  }
  return order;
}

TEST_F(HfModelTest, IsTheGgufFileThatItWouldBecome) {
  const auto model = Open();
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const auto spec = SpecFromGguf(**model);
  ASSERT_TRUE(spec.ok()) << spec.status().ToString();
  EXPECT_EQ(spec->hidden_dim, 8);
  EXPECT_EQ(spec->vocab_size, 3);
  EXPECT_EQ(spec->layers.size(), 1u);
  EXPECT_THAT(RowOrder(**model, "blk.0.attn_v.weight"), ElementsAre(0, 1, 2, 3));
  // From halves to neighbours, in each head by itself.
  EXPECT_THAT(RowOrder(**model, "blk.0.attn_q.weight"), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(RowOrder(**model, "blk.0.attn_k.weight"), ElementsAre(0, 2, 1, 3));
  EXPECT_FALSE((*model)->Find("blk.0.attn_v.weight")->is_computed());
  EXPECT_EQ((*model)->tensors().size(), tensors_.size());
}

TEST_F(HfModelTest, RowsComeInPartsToo) {
  const auto model = Open();
  ASSERT_TRUE(model.ok());
  const formats::TensorInfo& q = *(*model)->Find("blk.0.attn_q.weight");
  std::vector<float> rows(24);
  (*model)->ReadRows(q, 5, 3, reinterpret_cast<std::byte*>(rows.data()));
  EXPECT_THAT((std::vector<float>{rows[0], rows[8], rows[16]}), ElementsAre(48.0f, 40.0f, 56.0f));
}

TEST_F(HfModelTest, BiasesTurnWithTheirRows) {
  Set("model.layers.0.self_attn.k_proj.bias", {4});
  const auto model = Open();
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  std::vector<float> bias(4);
  formats::ReadFloats(**model, *(*model)->Find("blk.0.attn_k.bias"), bias.data());
  EXPECT_THAT(bias, ElementsAre(0.0f, 2.0f, 1.0f, 3.0f));
}

TEST_F(HfModelTest, TiedModelsLeaveOutAnOutputMatrix) {
  config_["tie_word_embeddings"] = "true";
  const auto model = Open();
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_EQ((*model)->Find("output.weight"), nullptr);
}

TEST_F(HfModelTest, UntiedModelsNeedAnOutputMatrix) {
  tensors_.erase("lm_head.weight");
  EXPECT_THAT(Error().message(), HasSubstr("no tensor of the checkpoint stands for output.weight"));
}

TEST_F(HfModelTest, RefusesWhatItWouldHaveToIgnore) {
  const std::vector<std::array<const char*, 3>> cases = {
      {"model_type", "\"rwkv7\"", "model_type 'rwkv7' is not supported; this build runs"},
      {"hidden_act", "\"relu2\"", "hidden_act is 'relu2'"},
      {"quantization_config", R"({"quant_method": "quip", "bits": 2})", "quantised by 'quip'"},
      {"rope_scaling", R"({"type": "dynamic", "factor": 2.0})", "rope_type is 'dynamic'"},
      {"rope_scaling", R"({"rope_type": "yarn", "factor": 2.0, "truncate": false})", "truncate is false"},
      {"rope_scaling", R"({"rope_type": "yarn", "factor": 2.0, "mscale": 1.0})", "mscale is not supported"},
      {"partial_rotary_factor", "0.5", "partial_rotary_factor is 0.5"},
  };
  for (const auto& [key, value, message] : cases) {
    const auto saved = config_;
    config_[key] = value;
    const Status status = Error();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << key << ": " << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(message));
    config_ = saved;
  }
}

TEST_F(HfModelTest, RefusesNumbersThatCannotBe) {
  const std::vector<std::array<const char*, 3>> cases = {
      {"hidden_size", "0", "hidden_size is 0"},
      {"hidden_size", "1.5", "hidden_size is a number, wanted an integer"},
      {"num_hidden_layers", "\"many\"", "num_hidden_layers is a string"},
      {"num_key_value_heads", "3", "num_key_value_heads is 3"},
      {"head_dim", "3", "heads of 3, which is odd"},
      {"rms_norm_eps", "-1", "rms_norm_eps is -1"},
      {"tie_word_embeddings", "1", "tie_word_embeddings is an integer, wanted true or false"},
      {"rope_theta", "Infinity", "rope_theta is inf"},
      {"rope_scaling", "3", "rope_scaling is an integer, wanted an object"},
      {"rope_scaling", R"({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4.0})", "high_freq_factor is 4"},
      {"rope_scaling", R"({"rope_type": "linear"})", "factor is missing"},
  };
  for (const auto& [key, value, message] : cases) {
    const auto saved = config_;
    config_[key] = value;
    const Status status = Error();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << key << ": " << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr(message));
    config_ = saved;
  }
  config_.erase("vocab_size");
  EXPECT_THAT(Error().message(), HasSubstr("config.json: vocab_size is missing"));
}

TEST_F(HfModelTest, RefusesTensorsThatDoNotFit) {
  Set("model.layers.0.self_attn.k_proj.weight", {3, 8});
  EXPECT_THAT(Error().message(), HasSubstr("has 3 rows, wanted a multiple of 2 for its 1 heads"));
  Set("model.layers.0.self_attn.k_proj.weight", {4, 2, 4});
  EXPECT_THAT(Error().message(), HasSubstr("has 3 dimensions"));
  Set("model.layers.0.self_attn.k_proj.weight", {4, 8});
  Set("model.layers.0.self_attn.surprise.weight", {4, 8});
  EXPECT_THAT(Error().message(), HasSubstr("'model.layers.0.self_attn.surprise.weight' has no place in a llama model"));
}

TEST_F(HfModelTest, SaysWhatAFolderLacks) {
  EXPECT_THAT(OpenHfModel(folder_).status().message(), HasSubstr("no config.json in this folder"));
  WriteConfig();
  EXPECT_THAT(OpenHfModel(folder_).status().message(), HasSubstr("no model.safetensors"));
  const std::string text = "x";
  test::WriteFile(folder_ + "/pytorch_model.bin", std::as_bytes(std::span(text)));
  EXPECT_THAT(OpenHfModel(folder_).status().message(), HasSubstr("the weights are in pytorch_model.bin"));
}

TEST_F(HfModelTest, TakesTheChatTemplateFromItsOwnFileFirst) {
  const auto write = [this](const char* name, std::string_view text) {
    test::WriteFile(folder_ + "/" + name, std::as_bytes(std::span(text)));
  };
  ASSERT_TRUE(Open().ok());
  const auto chat_template = [this] { return formats::HfFolder::Open(folder_)->chat_template(); };
  EXPECT_EQ(chat_template(), "");
  write("tokenizer_config.json", R"({"chat_template": [{"name": "tool_use", "template": "t"},
                                                       {"name": "default", "template": "d"}]})");
  EXPECT_EQ(chat_template(), "d");
  write("tokenizer_config.json", R"({"chat_template": "c"})");
  EXPECT_EQ(chat_template(), "c");
  write("chat_template.jinja", "j");
  EXPECT_EQ(chat_template(), "j");
}

TEST_F(HfModelTest, RecommendsWhatGenerationConfigSays) {
  const std::string text = R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95,
                               "repetition_penalty": 1.05, "eos_token_id": [1, 2]})";
  test::WriteFile(folder_ + "/generation_config.json", std::as_bytes(std::span(text)));
  const auto model = Open();
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const formats::GgufMetadata& metadata = (*model)->metadata();
  EXPECT_EQ(*metadata.GetFloat("general.sampling.temp"), 0.6);
  EXPECT_EQ(*metadata.GetInt("general.sampling.top_k"), 20);
  EXPECT_EQ(*metadata.GetFloat("general.sampling.top_p"), 0.95);
  EXPECT_EQ(*metadata.GetFloat("general.sampling.penalty_repeat"), 1.05);
  EXPECT_FALSE(metadata.Has("general.sampling.min_p"));
}

TEST(HfSourceRow, GroupsFusedProjectionsByPart) {
  const HfTensorRule rule{.transform = HfTransform::kGroupQkv, .num_heads = 2};
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < 12; ++row) rows.push_back(HfSourceRow(rule, row, 12));
  EXPECT_THAT(rows, ElementsAre(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11));
}

}  // namespace
}  // namespace adit::models
