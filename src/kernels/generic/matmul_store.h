#ifndef ADIT_KERNELS_GENERIC_MATMUL_STORE_H_
#define ADIT_KERNELS_GENERIC_MATMUL_STORE_H_

#include <cstdint>

#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"

namespace adit::kernels::generic {

// out = (out +) (sums + bias) for tokens [token, token + num_tokens) and the rows of one panel from `row` on, those
// beyond num_rows left alone. sums: [num_tokens, kVecs * kLanes], aligned to a vector.
template <class F32, int kVecs>
[[gnu::always_inline]] inline void StoreOutputs(const MatmulArgs& args, int64_t token, int64_t num_tokens, int64_t row,
                                                const float* sums) {
  for (int64_t t = 0; t < num_tokens; ++t) {
    float* out = args.out + (token + t) * args.out_stride + row;
    for (int v = 0; v < kVecs; ++v, out += F32::kLanes, sums += F32::kLanes) {
      const int64_t first = row + v * F32::kLanes;
      const int64_t rest = args.num_rows - first;
      F32 y = F32::Load(sums);
      if (rest >= F32::kLanes) {
        if (args.bias != nullptr) y = F32::Add(y, F32::LoadU(args.bias + first));
        if (args.accumulate) y = F32::Add(F32::LoadU(out), y);
        F32::StoreU(out, y);
      } else if (rest > 0) {
        if (args.bias != nullptr) y = F32::Add(y, F32::LoadPartial(args.bias + first, rest));
        if (args.accumulate) y = F32::Add(F32::LoadPartial(out, rest), y);
        F32::StorePartial(out, y, rest);
      }
    }
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_STORE_H_
