#ifndef ADIT_MODELS_MODEL_SPEC_H_
#define ADIT_MODELS_MODEL_SPEC_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "nn/attention_block.h"
#include "nn/feed_forward.h"
#include "nn/kv_cache.h"
#include "nn/rope.h"

namespace adit::models {

// What mixes tokens, and what works on each by itself. A further kind is one more alternative here and one more block
// in nn.
using MixerSpec = std::variant<nn::AttentionBlockConfig>;
using FeedForwardSpec = std::variant<nn::GatedFeedForwardConfig>;

struct LayerSpec {
  MixerSpec mixer;
  FeedForwardSpec feed_forward;
  bool post_norms = false;  // norms of the mixer's and the feed-forward's output before they join the residual
};

// A decoder, completely described. A family's file makes one from a checkpoint's metadata; the forward pass walks it
// and knows no family.
struct ModelSpec {
  std::string architecture;  // as the checkpoint names it
  int64_t vocab_size = 0;
  int64_t hidden_dim = 0;
  int64_t context_length = 0;    // longest that the model was made for
  float norm_eps = 1e-5f;        // of every RMS norm
  float embedding_scale = 1.0f;  // multiplies the embeddings
  std::vector<nn::RopeConfig> ropes;
  std::vector<LayerSpec> layers;

  // What each layer keeps of the past.
  std::vector<nn::CacheSpec> CacheSpecs() const;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_MODEL_SPEC_H_
