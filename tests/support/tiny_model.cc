#include "support/tiny_model.h"

#include <random>
#include <utility>

namespace adit::test {
namespace {

std::vector<float> RandomWeights(const std::string& name, int64_t size) {
  uint32_t seed = 1;
  for (char c : name) seed = seed * 31 + static_cast<unsigned char>(c);
  std::mt19937 rng(seed);
  std::vector<float> weights;
  for (int64_t i = 0; i < size; ++i) weights.push_back(static_cast<float>(rng() % 2001) / 1000.0f - 1.0f);
  return weights;
}

}  // namespace

std::vector<std::byte> TinyModel::Build() const {
  GgufBuilder builder;
  builder.AddString("general.architecture", architecture);
  const auto key = [&](const char* name) { return architecture + "." + name; };
  builder.Add<uint32_t>(key("block_count"), 1)
      .Add<uint32_t>(key("context_length"), 64)
      .Add<uint32_t>(key("embedding_length"), 16)
      .Add<uint32_t>(key("feed_forward_length"), 24)
      .Add<uint32_t>(key("attention.head_count"), num_heads)
      .Add<uint32_t>(key("attention.head_count_kv"), num_kv_heads)
      .Add<float>(key("attention.layer_norm_rms_epsilon"), 1e-6f);
  more_keys(builder);
  const auto add = [&](const std::string& name, std::vector<int64_t> shape, const std::string& weights_of) {
    if (name == without) return;
    int64_t size = 1;
    for (int64_t dim : shape) size *= dim;
    builder.AddTensorF32(name, std::move(shape), RandomWeights(weights_of, size));
  };
  const auto add_own = [&](const std::string& name, std::vector<int64_t> shape) { add(name, std::move(shape), name); };
  add_own("token_embd.weight", {vocab_size, 16});
  add_own("output_norm.weight", {16});
  if (output == Output::kOwn) add_own("output.weight", {vocab_size, 16});
  if (output == Output::kCopyOfEmbedding) add("output.weight", {vocab_size, 16}, "token_embd.weight");
  add_own("blk.0.attn_norm.weight", {16});
  add_own("blk.0.ffn_norm.weight", {16});
  add_own("blk.0.attn_q.weight", {16, 16});
  add_own("blk.0.attn_k.weight", {8, 16});
  add_own("blk.0.attn_v.weight", {8, 16});
  add_own("blk.0.attn_output.weight", {16, 16});
  add_own("blk.0.ffn_gate.weight", {24, 16});
  add_own("blk.0.ffn_up.weight", {24, 16});
  add_own("blk.0.ffn_down.weight", {16, 24});
  if (!extra.empty()) add_own(extra, {16});
  return builder.Build();
}

}  // namespace adit::test
