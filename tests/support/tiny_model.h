#ifndef ADIT_TESTS_SUPPORT_TINY_MODEL_H_
#define ADIT_TESTS_SUPPORT_TINY_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/gguf_builder.h"

namespace adit::test {

// A complete model of one layer as a GGUF file in memory, without a tokenizer; weights are random, the same for a
// tensor's name each time. A test changes what it wants to see refused.
struct TinyModel {
  enum class Output : uint8_t { kOwn, kNone, kCopyOfEmbedding };

  std::string architecture = "llama";
  std::function<void(GgufBuilder&)> more_keys = [](GgufBuilder&) {};
  std::string without;  // a tensor that is left out
  std::string extra;    // a vector of 16 under a name that no model has
  int64_t vocab_size = 8;
  uint32_t num_heads = 2;
  uint32_t num_kv_heads = 1;
  Output output = Output::kOwn;

  std::vector<std::byte> Build() const;
};

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_TINY_MODEL_H_
