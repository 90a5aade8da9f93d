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
using Q8 = generic::KvQ8<VecF32>;
using Q4 = generic::KvQ4<VecF32>;
using F8 = generic::KvFp8<VecF32>;

// Indexed by KvType.
constexpr const generic::KeyFunctions<VecF32>* kKeyFunctions[kNumKvTypes] = {
    &generic::kKeyFunctions<VecF32, F32>, &generic::kKeyFunctions<VecF32, F16>, &generic::kKeyFunctions<VecF32, BF16>,
    &generic::kKeyFunctions<VecF32, Q8>,  &generic::kKeyFunctions<VecF32, Q4>,  &generic::kKeyFunctions<VecF32, F8>};
constexpr const generic::ValueFunctions<VecF32>* kValueFunctions[kNumKvTypes] = {
    &generic::kValueFunctions<VecF32, F32>,  &generic::kValueFunctions<VecF32, F16>,
    &generic::kValueFunctions<VecF32, BF16>, &generic::kValueFunctions<VecF32, Q8>,
    &generic::kValueFunctions<VecF32, Q4>,   &generic::kValueFunctions<VecF32, F8>};
constexpr void (*kStoreKeys[kNumKvTypes])(const StoreKvArgs&) noexcept = {
    generic::StoreKeys<VecF32, F32>, generic::StoreKeys<VecF32, F16>, generic::StoreKeys<VecF32, BF16>,
    generic::StoreKeys<VecF32, Q8>,  generic::StoreKeys<VecF32, Q4>,  generic::StoreKeys<VecF32, F8>};
constexpr void (*kStoreValues[kNumKvTypes])(const StoreKvArgs&) noexcept = {
    generic::StoreValues<VecF32, F32>, generic::StoreValues<VecF32, F16>, generic::StoreValues<VecF32, BF16>,
    generic::StoreValues<VecF32, Q8>,  generic::StoreValues<VecF32, Q4>,  generic::StoreValues<VecF32, F8>};

}  // namespace

void StoreKv(const StoreKvArgs& args) noexcept {
  ADIT_DCHECK(args.slot >= 0 && args.slot < args.kv.block_size);
  kStoreKeys[static_cast<int>(args.kv.k_type)](args);
  kStoreValues[static_cast<int>(args.kv.v_type)](args);
}

void Attend(const AttendArgs& args, const AttendWork& work) noexcept {
  ADIT_DCHECK(work.query_end - work.query_begin <= kMaxAttendQueries);
  ADIT_DCHECK(args.kv.block_size % 16 == 0);
  ADIT_DCHECK(reinterpret_cast<uintptr_t>(work.scratch) % 64 == 0);
  generic::Attend<VecF32>(args, work, *kKeyFunctions[static_cast<int>(args.kv.k_type)],
                          *kValueFunctions[static_cast<int>(args.kv.v_type)]);
}

void MergeStates(const float* from, float* into, int v_dim) noexcept {
  generic::MergeStates<VecF32>(from, into, v_dim);
}

void FinishState(const float* state, float* out, int v_dim) noexcept {
  generic::FinishState<VecF32>(state, out, v_dim);
}

}  // namespace adit::kernels::avx2
