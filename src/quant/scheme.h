#ifndef ADIT_QUANT_SCHEME_H_
#define ADIT_QUANT_SCHEME_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf.h"
#include "tensor/dtype.h"

namespace adit::quant {

// Mixes of types for the tensors of a model, by the names that GGUF files have them under. _S, _M and _L give a few of
// the matrices that most depends on a type of more bits.
enum class SchemeId : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ2_K_S,
  kQ3_K_S,
  kQ3_K_M,
  kQ3_K_L,
  kQ4_K_S,
  kQ4_K_M,
  kQ5_K_S,
  kQ5_K_M,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kTQ1_0,
  kTQ2_0,
  kMXFP4,
};

struct Scheme {
  SchemeId id = SchemeId::kF16;
  std::string_view name;     // "Q4_K_M"
  DType base = DType::kF16;  // what most matrices get
  uint64_t file_type = 0;    // general.file_type of the file
};

// In any case; "Q3_K", "Q4_K" and "Q5_K" are their _M. Null for another name.
const Scheme* FindScheme(std::string_view name);
// The names, separated by commas, for messages.
std::string SchemeNames();

// The type of each tensor of `model`, in its order. The rules are llama.cpp's, so that files have the same size:
// vectors and small tables are F32, matrices get the base or, by what they are and the layer they are in, another type;
// what gives the logits gets 6 or 8 bits. Where rows are no whole number of blocks, FittingType. `weighted`: whether
// columns' importance is known, which makes some exceptions needless.
std::vector<DType> SchemeTypes(const Scheme& scheme, const formats::GgufFile& model, bool weighted);

}  // namespace adit::quant

#endif  // ADIT_QUANT_SCHEME_H_
