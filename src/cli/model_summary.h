#ifndef ADIT_CLI_MODEL_SUMMARY_H_
#define ADIT_CLI_MODEL_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf.h"

namespace adit::cli {

// The tensors of one type.
struct TensorTypeUse {
  std::string_view type;  // "Q4_1"
  int64_t num_tensors = 0;
  int64_t num_elements = 0;
  int64_t size_bytes = 0;
};

struct TokenizerSummary {
  std::string description;  // "gpt2 (smollm)"
  std::string error;        // why this build cannot use it, else empty; then nothing else is set
  int64_t num_tokens = 0;
  std::optional<int32_t> bos_id;
  std::optional<int32_t> eos_id;
  std::vector<int32_t> end_of_generation_ids;
  bool adds_bos = false;
  bool adds_eos = false;
};

// One number of the architecture, as its key has it: "8192", or "0 to 8" where it differs from layer to layer. Empty
// when the file does not say.
struct Hyperparameter {
  const char* label;  // "layers"
  const char* key;    // "block_count", behind the architecture
  std::string text;
};

// What people want to know of a model file; whether or not this build can run it.
struct ModelSummary {
  std::string architecture;  // empty when the file does not say
  std::string name;
  std::string license;
  std::string license_link;
  std::vector<Hyperparameter> hyperparameters;
  int64_t num_parameters = 0;
  int64_t tensor_bytes = 0;
  std::vector<TensorTypeUse> types;  // most bytes first
  TokenizerSummary tokenizer;
  std::string chat_template;  // empty: none
  std::string cannot_run;     // why this build does not run it, else empty
};

ModelSummary Summarize(const formats::GgufFile& file);

// A metadata value for people, on one line: strings cut after max_bytes, arrays after a few elements with their length.
std::string ValueText(const formats::GgufValue& value, size_t max_bytes);

// "[49152, 576]", outermost dimension first.
std::string ShapeText(const formats::TensorInfo& tensor);

}  // namespace adit::cli

#endif  // ADIT_CLI_MODEL_SUMMARY_H_
