#ifndef ADIT_TOKENIZER_TEST_MODELS_H_
#define ADIT_TOKENIZER_TEST_MODELS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tokenizer/test_vocabulary.h"
#include "tokenizer/tokenizer.h"

// What tests of tokenizers share, and real models, for tests that skip without them.
namespace adit::tokenizer {

inline constexpr char kSmolLm2[] = "SmolLM2-135M-Instruct.Q4_1.gguf";
inline constexpr char kQwenCoder[] = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";
inline constexpr char kGemma3[] = "gemma-3-270m-q4_k_m.gguf";

// The tokenizer of a GGUF file; null, and a failure of the test, where there is none.
std::unique_ptr<Tokenizer> OpenTokenizer(const std::string& path);

// The tokenizer of a file's keys; null, and a failure of the test, where they make none.
std::unique_ptr<Tokenizer> MakeTokenizer(MetadataValues values);
inline std::unique_ptr<Tokenizer> MakeBpe() { return MakeTokenizer(SmallBpe().BpeValues("gpt-2")); }

// The pieces that a text is cut into.
std::vector<std::string> Pieces(const Tokenizer& tokenizer, const std::string& text, bool parse_special = false);

// The text of these ids; empty, and a failure of the test, where they have none.
std::string DecodeAll(const Tokenizer& tokenizer, std::span<const int32_t> ids, bool with_special = true);

// Where the model lies: in models/ or in ../models/ of the source tree.
std::optional<std::string> FindModel(const std::string& name);

}  // namespace adit::tokenizer

// Declares `variable`, a const unique_ptr, from the real model of that name, or skips the test.
#define ADIT_OPEN_MODEL_OR_SKIP(variable, name)                                                                      \
  const std::optional<std::string> variable##_path = ::adit::tokenizer::FindModel(name);                             \
  if (!variable##_path) GTEST_SKIP() << "model " << (name) << " is neither in models/ nor in ../models/";            \
  const std::unique_ptr<::adit::tokenizer::Tokenizer> variable = ::adit::tokenizer::OpenTokenizer(*variable##_path); \
  ASSERT_NE(variable, nullptr)

#endif  // ADIT_TOKENIZER_TEST_MODELS_H_
