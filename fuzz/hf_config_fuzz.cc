// Any bytes as config.json and generation_config.json: refused with a message, or turned into keys.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "formats/hf_folder.h"
#include "models/hf_registry.h"
#include "models/hf_sampling_keys.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using adit::formats::HfFolder;
  using adit::formats::Json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  adit::Result<Json> json = Json::Parse(text, "fuzz", {.allow_infinity = true});
  if (!json.ok()) {
    Require(!json.status().message().empty());
    return 0;
  }
  if (json->AsObject() == nullptr) return 0;
  const HfFolder folder = HfFolder::Of(*json, *json);
  adit::Result<adit::models::HfKeys> keys = adit::models::ReadHfConfig(folder);
  if (!keys.ok()) {
    Require(!keys.status().message().empty());
    return 0;
  }
  Require(keys->values().contains("general.architecture"));
  const adit::Status status = adit::models::AddSamplingKeys(folder, keys->values());
  Require(status.ok() || !status.message().empty());
  for (const auto& tensor : keys->computed()) Require(tensor.values.size() < (size_t{1} << 24));
  keys->tensors().Find("model.layers.3.self_attn.q_proj.weight");
  return 0;
}
