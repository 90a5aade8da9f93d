#include "kernels/generic/elementwise.h"

#include "base/check.h"
#include "kernels/avx512/kernels.h"
#include "kernels/avx512/vec_f32.h"

namespace adit::kernels::avx512 {

void RmsNorm(const RmsNormArgs& args) noexcept {
  ADIT_DCHECK(args.dim > 0);
  generic::RmsNorm<VecF32>(args);
}

void LayerNorm(const LayerNormArgs& args) noexcept {
  ADIT_DCHECK(args.dim > 0);
  generic::LayerNorm<VecF32>(args);
}

void Rope(const RopeArgs& args) noexcept {
  ADIT_DCHECK(2 * args.num_pairs <= args.head_dim);
  generic::Rope<VecF32>(args);
}

void Glu(const GluArgs& args) noexcept { generic::Glu<VecF32>(args); }

void Activate(const ActivateArgs& args) noexcept { generic::Activate<VecF32>(args); }

void Softcap(const SoftcapArgs& args) noexcept {
  ADIT_DCHECK(args.cap > 0.0f);
  generic::Softcap<VecF32>(args);
}

}  // namespace adit::kernels::avx512
