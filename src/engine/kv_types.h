#ifndef ADIT_ENGINE_KV_TYPES_H_
#define ADIT_ENGINE_KV_TYPES_H_

#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "kernels/attention.h"

namespace adit::engine {

// How the cache stores keys and values; unset: what the kernels prefer.
struct KvTypes {
  std::optional<kernels::KvType> k;
  std::optional<kernels::KvType> v;
};

// From "f16" for both or "q8_0,q4_0" for keys and values; "auto" leaves them unset. InvalidArgument, with the names
// there are, for others.
Result<KvTypes> ParseKvTypes(std::string_view text);

// As ParseKvTypes takes it.
std::string KvTypesName(kernels::KvType k, kernels::KvType v);

}  // namespace adit::engine

#endif  // ADIT_ENGINE_KV_TYPES_H_
