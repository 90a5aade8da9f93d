// Any bytes as tokenizer.json: refused with a message, or turned into keys that fit together.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/hf_tokenizer_keys.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using adit::formats::Json;
  const auto folder = adit::formats::HfFolder::Of(Json(Json::Object()), Json(Json::Object()));
  const auto keys = adit::formats::HfTokenizerKeys(folder, {reinterpret_cast<const char*>(data), size});
  if (!keys.ok()) {
    Require(!keys.status().message().empty());
    return 0;
  }
  const auto& tokens = std::get<std::vector<std::string>>(keys->at("tokenizer.ggml.tokens").value);
  const auto& types = std::get<std::vector<int64_t>>(keys->at("tokenizer.ggml.token_type").value);
  Require(tokens.size() == types.size());
  for (const int64_t type : types) Require(type >= 1 && type <= 6);
  return 0;
}
