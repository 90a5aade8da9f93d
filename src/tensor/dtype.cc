#include "tensor/dtype.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/decode.h"
#include "tensor/fp8.h"
#include "tensor/int4.h"
#include "tensor/int8.h"
#include "tensor/iq1_m.h"
#include "tensor/iq1_s.h"
#include "tensor/iq2_s.h"
#include "tensor/iq2_xs.h"
#include "tensor/iq2_xxs.h"
#include "tensor/iq3_s.h"
#include "tensor/iq3_xxs.h"
#include "tensor/iq4_nl.h"
#include "tensor/iq4_xs.h"
#include "tensor/mxfp4.h"
#include "tensor/nvfp4.h"
#include "tensor/q2_k.h"
#include "tensor/q3_k.h"
#include "tensor/q4_0.h"
#include "tensor/q4_1.h"
#include "tensor/q4_k.h"
#include "tensor/q5_0.h"
#include "tensor/q5_1.h"
#include "tensor/q5_k.h"
#include "tensor/q6_k.h"
#include "tensor/q8_0.h"
#include "tensor/tq1_0.h"
#include "tensor/tq2_0.h"

namespace adit {
namespace {

constexpr DTypeTraits kTraits[] = {
    {"f32", 1, 4, &DecodeF32},
    {"f16", 1, 2, &DecodeF16},
    {"bf16", 1, 2, &DecodeBF16},
    {"q4_0", 32, sizeof(BlockQ4_0), &DecodeQ4_0},
    {"q4_1", 32, sizeof(BlockQ4_1), &DecodeQ4_1},
    {"q5_0", 32, sizeof(BlockQ5_0), &DecodeQ5_0},
    {"q5_1", 32, sizeof(BlockQ5_1), &DecodeQ5_1},
    {"q8_0", 32, sizeof(BlockQ8_0), &DecodeQ8_0},
    {"q2_k", 256, sizeof(BlockQ2K), &DecodeQ2K},
    {"q3_k", 256, sizeof(BlockQ3K), &DecodeQ3K},
    {"q4_k", 256, sizeof(BlockQ4K), &DecodeQ4K},
    {"q5_k", 256, sizeof(BlockQ5K), &DecodeQ5K},
    {"q6_k", 256, sizeof(BlockQ6K), &DecodeQ6K},
    {"iq4_nl", 32, sizeof(BlockIQ4NL), &DecodeIQ4NL},
    {"iq4_xs", 256, sizeof(BlockIQ4XS), &DecodeIQ4XS},
    {"iq1_s", 256, sizeof(BlockIQ1S), &DecodeIQ1S},
    {"iq1_m", 256, sizeof(BlockIQ1M), &DecodeIQ1M},
    {"iq2_xxs", 256, sizeof(BlockIQ2XXS), &DecodeIQ2XXS},
    {"iq2_xs", 256, sizeof(BlockIQ2XS), &DecodeIQ2XS},
    {"iq2_s", 256, sizeof(BlockIQ2S), &DecodeIQ2S},
    {"iq3_xxs", 256, sizeof(BlockIQ3XXS), &DecodeIQ3XXS},
    {"iq3_s", 256, sizeof(BlockIQ3S), &DecodeIQ3S},
    {"tq1_0", 256, sizeof(BlockTQ1_0), &DecodeTQ1_0},
    {"tq2_0", 256, sizeof(BlockTQ2_0), &DecodeTQ2_0},
    {"mxfp4", 32, sizeof(BlockMXFP4), &DecodeMXFP4},
    {"nvfp4", 64, sizeof(BlockNVFP4), &DecodeNVFP4},
    {"int4", 32, sizeof(BlockInt4), &DecodeInt4},
    {"int8", 32, sizeof(BlockInt8), &DecodeInt8},
    {"fp8", 32, sizeof(BlockFp8), &DecodeFp8},
};
static_assert(std::size(kTraits) == kNumDTypes);

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const DTypeTraits& Traits(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  ADIT_DCHECK(index < std::size(kTraits));
  return kTraits[index];
}

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const std::string_view row = kTraits[i].name;
    const bool equal =
        std::equal(row.begin(), row.end(), name.begin(), name.end(), [](char a, char b) { return a == ToLower(b); });
    if (equal) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace adit
