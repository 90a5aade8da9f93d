// BERT (Devlin et al. 2018): an encoder. Every token sees all others, positions are learned, the residual itself is
// normed after each block, and there are no logits. With a head it is a classifier of texts, or of pairs of them.
#include "base/error.h"
#include "formats/quoted.h"
#include "models/gguf_keys.h"
#include "models/hf_keys.h"
#include "models/hf_registry.h"
#include "models/registry.h"

namespace adit::models {
namespace {

// As llama.cpp numbers what becomes of hidden states: the head reads that of the first token.
constexpr int64_t kRankPooling = 4;
constexpr int64_t kMaxLabels = 4096;

// Checkpoints of BertModel have no prefix, those with a head have "bert.".
constexpr HfTensorRule kBertTensors[] = {
    {"embeddings.word_embeddings.weight", "token_embd.weight"},
    {"embeddings.position_embeddings.weight", "position_embd.weight"},
    {"embeddings.token_type_embeddings.weight", "token_types.weight"},
    {"embeddings.LayerNorm.weight", "token_embd_norm.weight"},
    {"embeddings.LayerNorm.bias", "token_embd_norm.bias"},
    {"embeddings.LayerNorm.gamma", "token_embd_norm.weight"},
    {"embeddings.LayerNorm.beta", "token_embd_norm.bias"},
    {"embeddings.position_ids", "", HfTransform::kIgnore},
    {"encoder.layer.{}.attention.self.query.weight", "blk.{}.attn_q.weight"},
    {"encoder.layer.{}.attention.self.query.bias", "blk.{}.attn_q.bias"},
    {"encoder.layer.{}.attention.self.key.weight", "blk.{}.attn_k.weight"},
    {"encoder.layer.{}.attention.self.key.bias", "blk.{}.attn_k.bias"},
    {"encoder.layer.{}.attention.self.value.weight", "blk.{}.attn_v.weight"},
    {"encoder.layer.{}.attention.self.value.bias", "blk.{}.attn_v.bias"},
    {"encoder.layer.{}.attention.output.dense.weight", "blk.{}.attn_output.weight"},
    {"encoder.layer.{}.attention.output.dense.bias", "blk.{}.attn_output.bias"},
    {"encoder.layer.{}.attention.output.LayerNorm.weight", "blk.{}.attn_output_norm.weight"},
    {"encoder.layer.{}.attention.output.LayerNorm.bias", "blk.{}.attn_output_norm.bias"},
    {"encoder.layer.{}.attention.output.LayerNorm.gamma", "blk.{}.attn_output_norm.weight"},
    {"encoder.layer.{}.attention.output.LayerNorm.beta", "blk.{}.attn_output_norm.bias"},
    {"encoder.layer.{}.intermediate.dense.weight", "blk.{}.ffn_up.weight"},
    {"encoder.layer.{}.intermediate.dense.bias", "blk.{}.ffn_up.bias"},
    {"encoder.layer.{}.output.dense.weight", "blk.{}.ffn_down.weight"},
    {"encoder.layer.{}.output.dense.bias", "blk.{}.ffn_down.bias"},
    {"encoder.layer.{}.output.LayerNorm.weight", "blk.{}.layer_output_norm.weight"},
    {"encoder.layer.{}.output.LayerNorm.bias", "blk.{}.layer_output_norm.bias"},
    {"encoder.layer.{}.output.LayerNorm.gamma", "blk.{}.layer_output_norm.weight"},
    {"encoder.layer.{}.output.LayerNorm.beta", "blk.{}.layer_output_norm.bias"},
};
constexpr HfTensorRule kClassifierTensors[] = {
    {"pooler.dense.weight", "cls.weight"},
    {"pooler.dense.bias", "cls.bias"},
    {"classifier.weight", "cls.output.weight"},
    {"classifier.bias", "cls.output.bias"},
};
// Heads that what the model was trained on needed, and embeddings do not.
constexpr HfTensorRule kTrainingTensors[] = {
    {"pooler.dense.weight", "", HfTransform::kIgnore},
    {"pooler.dense.bias", "", HfTransform::kIgnore},
    {"cls.predictions.bias", "", HfTransform::kIgnore},
    {"cls.predictions.transform.dense.weight", "", HfTransform::kIgnore},
    {"cls.predictions.transform.dense.bias", "", HfTransform::kIgnore},
    {"cls.predictions.transform.LayerNorm.weight", "", HfTransform::kIgnore},
    {"cls.predictions.transform.LayerNorm.bias", "", HfTransform::kIgnore},
    {"cls.predictions.transform.LayerNorm.gamma", "", HfTransform::kIgnore},
    {"cls.predictions.transform.LayerNorm.beta", "", HfTransform::kIgnore},
    {"cls.predictions.decoder.weight", "", HfTransform::kIgnore},
    {"cls.predictions.decoder.bias", "", HfTransform::kIgnore},
    {"cls.seq_relationship.weight", "", HfTransform::kIgnore},
    {"cls.seq_relationship.bias", "", HfTransform::kIgnore},
};

// The head, where the file has one.
Status ReadClassifier(const formats::GgufFile& file, ModelSpec& spec) {
  const formats::TensorInfo* output = file.Find("cls.output.weight");
  if (output == nullptr) {
    if (file.Find("cls.weight") == nullptr) return Status();
    return Unsupported("gguf: {}: has cls.weight without cls.output.weight; this build runs classifiers with both",
                       file.path());
  }
  ClassifierSpec& classifier = spec.classifier;
  classifier.num_labels = output->rank == 2 ? output->shape[0] : 1;
  if (classifier.num_labels > kMaxLabels) {
    return Corrupt("gguf: {}: cls.output.weight has {} rows; a classifier has at most {} labels", file.path(),
                   classifier.num_labels, kMaxLabels);
  }
  const std::string key = spec.architecture + ".classifier.output_labels";
  if (file.metadata().Has(key)) {
    ADIT_ASSIGN_OR_RETURN(const std::span<const std::string> labels, file.metadata().GetStrings(key));
    classifier.labels.assign(labels.begin(), labels.end());
  } else {
    for (int64_t i = 0; i < classifier.num_labels; ++i) classifier.labels.push_back(fmt::format("LABEL_{}", i));
  }
  if (static_cast<int64_t>(classifier.labels.size()) == classifier.num_labels) return Status();
  return Corrupt("gguf: {}: {} names {} labels; cls.output.weight has {} rows", file.path(), key,
                 classifier.labels.size(), classifier.num_labels);
}

// What config.json says that a checkpoint was made for: "BertForSequenceClassification".
std::string_view ArchitectureOf(const formats::JsonFields& config) {
  const formats::Json* names = config.Find("architectures");
  if (names == nullptr || names->AsArray() == nullptr || names->AsArray()->empty()) return {};
  const std::string* name = names->AsArray()->front().AsString();
  return name == nullptr ? std::string_view() : std::string_view(*name);
}

// The labels that id2label names, in the order of their numbers.
Status SetLabels(HfKeys& keys) {
  const formats::JsonFields config = keys.config();
  if (!config.Has("id2label")) return Status();
  ADIT_ASSIGN_OR_RETURN(const formats::JsonFields names, config.Object("id2label"));
  std::vector<std::string> labels;
  while (names.Has(std::to_string(labels.size()))) {
    if (static_cast<int64_t>(labels.size()) >= kMaxLabels) {
      return Corrupt("{}: more than {} labels", names.where(), kMaxLabels);
    }
    ADIT_ASSIGN_OR_RETURN(std::string label, names.StringOr(std::to_string(labels.size()), ""));
    labels.push_back(std::move(label));
  }
  if (labels.empty()) return Corrupt("{}: has no label of number 0", names.where());
  keys.values()[keys.architecture() + ".classifier.output_labels"] = {
      .type = formats::GgufType::kArray, .element_type = formats::GgufType::kString, .value = std::move(labels)};
  return Status();
}

}  // namespace

Status BertFromGguf(const formats::GgufFile& file, ModelSpec& spec) {
  const GgufKeys keys(file, spec.architecture);
  ADIT_ASSIGN_OR_RETURN(const GgufHyperparameters params, keys.ReadCommon(spec, nn::NormKind::kLayer));
  spec.embedding = {.learned_positions = true, .token_types = true, .norm = true};
  spec.output = {.norm = false, .logits = false};
  LayerSpec layer = PlainLayer(params);
  layer.norms = NormPlaces::kOfResidual;
  auto& attention = std::get<nn::AttentionBlockConfig>(layer.mixer);
  attention.rope = -1;
  attention.shape.causal = false;
  layer.feed_forward = nn::PlainFeedForwardConfig{.ffn_dim = params.ffn_dim, .activation = nn::Activation::kGeluErf};
  spec.layers.assign(static_cast<size_t>(params.num_layers), layer);
  return ReadClassifier(file, spec);
}

Status BertFromHf(HfKeys& keys) {
  ADIT_RETURN_IF_ERROR(keys.ReadCommon({.tied = true,
                                        .norm_eps = 1e-12,
                                        .activation = "gelu",
                                        .norm_eps_key = "layer_norm_eps",
                                        .gguf_norm_eps_key = "attention.layer_norm_epsilon"})
                           .status());
  const formats::JsonFields config = keys.config();
  ADIT_ASSIGN_OR_RETURN(const std::string positions, config.StringOr("position_embedding_type", "absolute"));
  if (positions != "absolute") {
    return Unsupported("{}: position_embedding_type is {}; this build runs bert models only with absolute",
                       config.where(), formats::Quoted(positions));
  }
  ADIT_RETURN_IF_ERROR(keys.RefuseUnless("is_decoder", 0.0));
  keys.SetBool("attention.causal", false);
  keys.tensors().SetOptionalPrefix("bert.");
  keys.AddTensors(kBertTensors);
  if (ArchitectureOf(config) == "BertForSequenceClassification") {
    keys.AddTensors(kClassifierTensors);
    keys.Require("cls.weight");
    keys.Require("cls.output.weight");
    keys.SetInt("pooling_type", kRankPooling);
    return SetLabels(keys);
  }
  keys.AddTensors(kTrainingTensors);
  return Status();
}

}  // namespace adit::models
