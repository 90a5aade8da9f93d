#ifndef ADIT_QUANT_LAYER_NAME_H_
#define ADIT_QUANT_LAYER_NAME_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace adit::quant {

// The layer that a tensor of a GGUF file is of, "blk.12.attn_v.weight": 12; none for the others.
std::optional<size_t> LayerOf(std::string_view name);

}  // namespace adit::quant

#endif  // ADIT_QUANT_LAYER_NAME_H_
