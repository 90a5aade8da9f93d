#include "kernels/generic/attention.h"

#include "kernels/avx2/kernels.h"
#include "kernels/avx2/vec_f32.h"
#include "kernels/generic/attn_state.h"

namespace adit::kernels::avx2 {

void StoreKv(const StoreKvArgs& args) noexcept { generic::Attention<VecF32>::StoreKv(args); }

void Attend(const AttendArgs& args, const AttendWork& work) noexcept { generic::Attention<VecF32>::Attend(args, work); }

void MergeStates(const float* from, float* into, int v_dim) noexcept {
  generic::MergeStates<VecF32>(from, into, v_dim);
}

void FinishState(const float* state, float* out, int v_dim) noexcept {
  generic::FinishState<VecF32>(state, out, v_dim);
}

}  // namespace adit::kernels::avx2
