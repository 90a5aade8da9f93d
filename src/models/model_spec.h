#ifndef ADIT_MODELS_MODEL_SPEC_H_
#define ADIT_MODELS_MODEL_SPEC_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "nn/attention_block.h"
#include "nn/feed_forward.h"
#include "nn/kv_cache.h"
#include "nn/norm.h"
#include "nn/rope.h"

namespace adit::models {

// What a checkpoint may say of sizes: far above any model there is, and products of them stay within 64 bits.
inline constexpr int64_t kMaxDim = int64_t{1} << 24;
inline constexpr int64_t kMaxLayers = 4096;

// What mixes tokens, and what works on each by itself. A further kind is one more alternative here and one more block
// in nn.
using MixerSpec = std::variant<nn::AttentionBlockConfig>;
using FeedForwardSpec = std::variant<nn::GatedFeedForwardConfig, nn::PlainFeedForwardConfig>;

// Where the norms of a block f stand around the residual x.
enum class NormPlaces : uint8_t {
  kBefore,          // x + f(norm(x))
  kBeforeAndAfter,  // x + norm(f(norm(x)))
  kAfter,           // x + norm(f(x))
  kOfResidual,      // norm(x + f(x))
};

// What the feed-forward of a layer reads.
enum class FeedForwardInput : uint8_t {
  kAfterMixer,   // the residual that the mixer has been added to
  kBesideMixer,  // the residual that the mixer reads, by a norm of its own; with NormPlaces::kBefore alone
  kAsMixer,      // just what the mixer reads; with NormPlaces::kBefore alone
};

struct LayerSpec {
  MixerSpec mixer;
  FeedForwardSpec feed_forward;
  NormPlaces norms = NormPlaces::kBefore;
  FeedForwardInput feed_forward_input = FeedForwardInput::kAfterMixer;
};

// What happens to a token's embedding before the first layer.
struct EmbeddingSpec {
  float scale = 1.0f;              // multiplies it
  bool learned_positions = false;  // that of its position is added; there are none behind context_length
  bool token_types = false;        // that of its type is added: whether it is of the first text of two
  bool norm = false;               // the sum is normed
};

// What makes logits of the hidden states.
struct OutputSpec {
  bool norm = true;
  bool logits = true;    // false: the model gives hidden states alone
  float scale = 1.0f;    // multiplies the logits
  float softcap = 0.0f;  // > 0: a logit l becomes softcap * tanh(l / softcap)
};

// What makes numbers, one for each label, of the state of a sequence's first token x: out(tanh(dense(x))).
struct ClassifierSpec {
  int64_t num_labels = 0;           // 0: the model is no classifier
  std::vector<std::string> labels;  // their names
};

// A model, completely described. A family's file makes one from a checkpoint's metadata; the forward pass walks it
// and knows no family.
struct ModelSpec {
  std::string architecture;  // as the checkpoint names it
  int64_t vocab_size = 0;
  int64_t hidden_dim = 0;
  int64_t context_length = 0;                   // longest that the model was made for
  nn::NormKind norm_kind = nn::NormKind::kRms;  // of every norm
  float norm_eps = 1e-5f;
  EmbeddingSpec embedding;
  OutputSpec output;
  ClassifierSpec classifier;
  float residual_scale = 1.0f;  // multiplies what blocks add to the residual
  std::vector<nn::RopeConfig> ropes;
  std::vector<LayerSpec> layers;

  // The longest sequence that turns by the ropes' plain divisors: one of more tokens turns by their long divisors, from
  // its first token on. 0: the ropes have none.
  int64_t ShortRopeLength() const;
  // Whether a sequence of `length` tokens turns by the long divisors.
  bool IsLong(int64_t length) const { return ShortRopeLength() > 0 && length > ShortRopeLength(); }
  // Whether all rows of a sequence have to lie in one pass: some layer looks ahead.
  bool NeedsWholeSequences() const;
  // What each layer keeps of the past.
  std::vector<nn::CacheSpec> CacheSpecs() const;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_MODEL_SPEC_H_
