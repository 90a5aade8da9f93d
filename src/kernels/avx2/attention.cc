#include "base/check.h"
#include "kernels/avx2/kernels.h"
#include "kernels/avx2/vec_f32.h"
#include "kernels/generic/attend.h"
#include "kernels/generic/attn_state.h"
#include "kernels/generic/kv_type.h"
#include "kernels/generic/store_kv.h"

namespace adit::kernels::avx2 {
namespace {

using F32 = generic::KvF32<VecF32>;
using F16 = generic::KvF16<VecF32>;
using BF16 = generic::KvBF16<VecF32>;

// Indexed by KvType.
constexpr void (*kAttendByType[])(const AttendArgs&, const AttendWork&) noexcept = {
    generic::Attend<VecF32, F32>, generic::Attend<VecF32, F16>, generic::Attend<VecF32, BF16>};
constexpr void (*kStoreByType[])(const StoreKvArgs&) noexcept = {
    generic::StoreKv<VecF32, F32>, generic::StoreKv<VecF32, F16>, generic::StoreKv<VecF32, BF16>};

}  // namespace

void StoreKv(const StoreKvArgs& args) noexcept {
  ADIT_DCHECK(args.slot >= 0 && args.slot < args.kv.block_size);
  kStoreByType[static_cast<int>(args.kv.type)](args);
}

void Attend(const AttendArgs& args, const AttendWork& work) noexcept {
  ADIT_DCHECK(work.query_end - work.query_begin <= kMaxAttendQueries);
  ADIT_DCHECK(args.kv.block_size % 16 == 0);
  ADIT_DCHECK(reinterpret_cast<uintptr_t>(work.scratch) % 64 == 0);
  kAttendByType[static_cast<int>(args.kv.type)](args, work);
}

void MergeStates(const float* from, float* into, int v_dim) noexcept {
  generic::MergeStates<VecF32>(from, into, v_dim);
}

void FinishState(const float* state, float* out, int v_dim) noexcept {
  generic::FinishState<VecF32>(state, out, v_dim);
}

}  // namespace adit::kernels::avx2
