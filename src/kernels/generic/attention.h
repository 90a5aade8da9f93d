#ifndef ADIT_KERNELS_GENERIC_ATTENTION_H_
#define ADIT_KERNELS_GENERIC_ATTENTION_H_

#include "base/check.h"
#include "kernels/attention.h"
#include "kernels/generic/attend.h"
#include "kernels/generic/kv_type.h"
#include "kernels/generic/store_kv.h"

// Attention and the cache it reads, for the types of keys and values that a KvView has.
namespace adit::kernels::generic {

template <typename V>
class Attention {
 public:
  static void StoreKv(const StoreKvArgs& args) noexcept {
    ADIT_DCHECK(args.slot >= 0 && args.slot < args.kv.block_size);
    kStoreKeys[static_cast<int>(args.kv.k_type)](args);
    kStoreValues[static_cast<int>(args.kv.v_type)](args);
  }

  static void Attend(const AttendArgs& args, const AttendWork& work) noexcept {
    ADIT_DCHECK(work.query_end - work.query_begin <= kMaxAttendQueries);
    ADIT_DCHECK(args.kv.block_size % 16 == 0);
    ADIT_DCHECK(reinterpret_cast<uintptr_t>(work.scratch) % 64 == 0);
    generic::Attend<V>(args, work, *kKeys[static_cast<int>(args.kv.k_type)],
                       *kValues[static_cast<int>(args.kv.v_type)]);
  }

 private:
  using F32 = KvF32<V>;
  using F16 = KvF16<V>;
  using BF16 = KvBF16<V>;
  using Q8 = KvQ8<V>;
  using Q4 = KvQ4<V>;
  using Fp8 = KvFp8<V>;
  using Store = void (*)(const StoreKvArgs&) noexcept;

  // Indexed by KvType.
  static constexpr const KeyFunctions<V>* kKeys[kNumKvTypes] = {&kKeyFunctions<V, F32>,  &kKeyFunctions<V, F16>,
                                                                &kKeyFunctions<V, BF16>, &kKeyFunctions<V, Q8>,
                                                                &kKeyFunctions<V, Q4>,   &kKeyFunctions<V, Fp8>};
  static constexpr const ValueFunctions<V>* kValues[kNumKvTypes] = {
      &kValueFunctions<V, F32>, &kValueFunctions<V, F16>, &kValueFunctions<V, BF16>,
      &kValueFunctions<V, Q8>,  &kValueFunctions<V, Q4>,  &kValueFunctions<V, Fp8>};
  static constexpr Store kStoreKeys[kNumKvTypes] = {StoreKeys<V, F32>, StoreKeys<V, F16>, StoreKeys<V, BF16>,
                                                    StoreKeys<V, Q8>,  StoreKeys<V, Q4>,  StoreKeys<V, Fp8>};
  static constexpr Store kStoreValues[kNumKvTypes] = {StoreValues<V, F32>, StoreValues<V, F16>, StoreValues<V, BF16>,
                                                      StoreValues<V, Q8>,  StoreValues<V, Q4>,  StoreValues<V, Fp8>};
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTENTION_H_
