#include "engine/kv_types.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace adit::engine {
namespace {

using kernels::KvType;

constexpr std::array<std::pair<std::string_view, KvType>, 6> kNames = {{{"f32", KvType::kF32},
                                                                        {"f16", KvType::kF16},
                                                                        {"bf16", KvType::kBF16},
                                                                        {"q8_0", KvType::kQ8_0},
                                                                        {"q4_0", KvType::kQ4_0},
                                                                        {"fp8", KvType::kFp8}}};

Result<std::optional<KvType>> ParseOne(std::string_view name) {
  if (name == "auto") return std::optional<KvType>();
  for (const auto& [known, type] : kNames) {
    if (known == name) return std::optional(type);
  }
  return InvalidArgument("KV type '{}': there are auto, f32, f16, bf16, q8_0, q4_0 and fp8", name);
}

std::string_view NameOf(KvType type) {
  for (const auto& [name, known] : kNames) {
    if (known == type) return name;
  }
  return "unknown";
}

}  // namespace

Result<KvTypes> ParseKvTypes(std::string_view text) {
  const size_t comma = text.find(',');
  ADIT_ASSIGN_OR_RETURN(const std::optional<KvType> k, ParseOne(text.substr(0, comma)));
  if (comma == std::string_view::npos) return KvTypes{.k = k, .v = k};
  ADIT_ASSIGN_OR_RETURN(const std::optional<KvType> v, ParseOne(text.substr(comma + 1)));
  return KvTypes{.k = k, .v = v};
}

std::string KvTypesName(KvType k, KvType v) {
  std::string name(NameOf(k));
  if (v != k) name.append(",").append(NameOf(v));
  return name;
}

}  // namespace adit::engine
