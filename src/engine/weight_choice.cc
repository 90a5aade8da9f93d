#include "engine/weight_choice.h"

#include "base/error.h"
#include "tensor/encode.h"

namespace adit::engine {
namespace {

bool IsPlain(DType dtype) { return Traits(dtype).block_elements == 1; }

// The names of all types, plain or not, that weights can be made in.
std::string Names(bool plain) {
  std::string names;
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (IsPlain(dtype) == plain && EncodeFor(dtype) != nullptr) {
      names += (names.empty() ? "" : ", ") + std::string(Traits(dtype).name);
    }
  }
  return names;
}

std::optional<DType> Find(const std::string& name, bool plain) {
  const std::optional<DType> dtype = ParseDType(name);
  return dtype && IsPlain(*dtype) == plain && EncodeFor(*dtype) != nullptr ? dtype : std::nullopt;
}

}  // namespace

Result<std::optional<formats::WeightTypes>> WeightTypesFor(const std::optional<std::string>& dtype,
                                                           const std::optional<std::string>& quantization) {
  const bool chooses_dtype = dtype && *dtype != "auto";
  if (chooses_dtype && quantization)
    return InvalidArgument("dtype {} and quantization {} at once", *dtype, *quantization);
  if (quantization) {
    const std::optional<DType> type = Find(*quantization, /*plain=*/false);
    if (!type) return InvalidArgument("no quantization '{}'; known are {}", *quantization, Names(/*plain=*/false));
    return std::optional(formats::TypesForQuantization(*type));
  }
  if (!chooses_dtype) return std::optional<formats::WeightTypes>();
  const std::optional<DType> type = Find(*dtype, /*plain=*/true);
  if (!type) return InvalidArgument("no dtype '{}'; known are auto, {}", *dtype, Names(/*plain=*/true));
  return std::optional(formats::WeightTypes{.matrices = *type});
}

}  // namespace adit::engine
