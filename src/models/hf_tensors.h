#ifndef ADIT_MODELS_HF_TENSORS_H_
#define ADIT_MODELS_HF_TENSORS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adit::models {

// How a tensor of a Hugging Face checkpoint becomes the one that GGUF files have in its place.
enum class HfTransform : uint8_t {
  kNone,
  kIgnore,           // has no place in a GGUF file and needs none
  kAddOne,           // norms that are stored less one
  kInterleaveHeads,  // rows of each head from halves (i, i + n/2) to neighbours (2i, 2i + 1)
  kTranspose,        // [inputs, outputs] to [outputs, inputs]
  kGroupQkv,         // rows [heads, q|k|v, head_dim] to [q|k|v, heads, head_dim]
};

// What a name of the checkpoint stands for. "{}" in both names is the number of a layer.
struct HfTensorRule {
  std::string_view hf;
  std::string_view gguf;
  HfTransform transform = HfTransform::kNone;
  int64_t num_heads = 0;  // kInterleaveHeads, kGroupQkv: heads among the rows
};

// The row of the checkpoint's matrix of num_rows rows that stands at `row` of the GGUF one.
int64_t HfSourceRow(const HfTensorRule& rule, int64_t row, int64_t num_rows);
// For each row of the checkpoint's matrix its row of the GGUF one; empty where they are the same.
std::vector<int64_t> HfRowOrder(const HfTensorRule& rule, int64_t num_rows);

// Finds the rule for each name of a checkpoint.
class HfTensorRules {
 public:
  // The views in `rules` outlive this; they are literals.
  void Add(std::span<const HfTensorRule> rules) { rules_.insert(rules_.end(), rules.begin(), rules.end()); }

  // What names may begin with and rules leave out; a literal.
  void SetOptionalPrefix(std::string_view prefix) { optional_prefix_ = prefix; }

  struct Match {
    const HfTensorRule* rule = nullptr;  // null: no rule
    std::string gguf_name;
  };
  // A rule's "model." may be missing too.
  Match Find(std::string_view hf_name) const;

  struct Origin {
    const HfTensorRule* rule = nullptr;  // null: no rule
    std::string hf_name;                 // with the optional prefix
  };
  // The other way: the first rule that gives the tensor of that name, and what a checkpoint calls it.
  Origin FindOrigin(std::string_view gguf_name) const;

 private:
  std::string_view optional_prefix_;
  std::vector<HfTensorRule> rules_;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_HF_TENSORS_H_
