#ifndef ADIT_TOKENIZER_TEST_MODELS_H_
#define ADIT_TOKENIZER_TEST_MODELS_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "formats/gguf.h"
#include "tokenizer/tokenizer.h"

// Real models, for tests that skip without them.
namespace adit::tokenizer {

inline const std::string kSmolLm2 = "SmolLM2-135M-Instruct.Q4_1.gguf";
inline const std::string kQwenCoder = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";
inline const std::string kGemma3 = "gemma-3-270m-q4_k_m.gguf";

inline std::unique_ptr<Tokenizer> OpenTokenizer(const std::string& path) {
  auto file = formats::GgufFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  if (!file.ok()) return nullptr;
  auto tokenizer = Tokenizer::FromGguf((*file)->metadata());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return tokenizer.ok() ? std::move(*tokenizer) : nullptr;
}

// Where the model lies, if it is there.
inline std::optional<std::string> FindModel(const std::string& name) {
  for (const char* folder : {ADIT_SOURCE_DIR "/models/", ADIT_SOURCE_DIR "/../models/"}) {
    if (std::filesystem::exists(folder + name)) return folder + name;
  }
  return std::nullopt;
}

}  // namespace adit::tokenizer

// Declares `variable`, a const unique_ptr, from the real model of that name, or skips the test.
#define ADIT_OPEN_MODEL_OR_SKIP(variable, name)                                                                      \
  const std::optional<std::string> variable##_path = ::adit::tokenizer::FindModel(name);                             \
  if (!variable##_path) GTEST_SKIP() << "model " << (name) << " is neither in models/ nor in ../models/";            \
  const std::unique_ptr<::adit::tokenizer::Tokenizer> variable = ::adit::tokenizer::OpenTokenizer(*variable##_path); \
  ASSERT_NE(variable, nullptr)

#endif  // ADIT_TOKENIZER_TEST_MODELS_H_
