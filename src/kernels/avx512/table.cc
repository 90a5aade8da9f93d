#include "kernels/avx512/kernels.h"
#include "kernels/avx512/matmul.h"
#include "kernels/kernel_table.h"

namespace adit::kernels::avx512 {

constexpr KernelTable kTable = {
    .name = "avx512",
    .native_kv = KvType::kF16,
    .weights = {KernelsOf<DType::kF32>(),    KernelsOf<DType::kF16>(),    KernelsOf<DType::kBF16>(),
                KernelsOf<DType::kQ4_0>(),   KernelsOf<DType::kQ4_1>(),   KernelsOf<DType::kQ5_0>(),
                KernelsOf<DType::kQ5_1>(),   KernelsOf<DType::kQ8_0>(),   KernelsOf<DType::kQ2_K>(),
                KernelsOf<DType::kQ3_K>(),   KernelsOf<DType::kQ4_K>(),   KernelsOf<DType::kQ5_K>(),
                KernelsOf<DType::kQ6_K>(),   KernelsOf<DType::kIQ4_NL>(), KernelsOf<DType::kIQ4_XS>(),
                KernelsOf<DType::kIQ1_S>(),  KernelsOf<DType::kIQ1_M>(),  KernelsOf<DType::kIQ2_XXS>(),
                KernelsOf<DType::kIQ2_XS>(), KernelsOf<DType::kIQ2_S>(),  KernelsOf<DType::kIQ3_XXS>(),
                KernelsOf<DType::kIQ3_S>(),  KernelsOf<DType::kTQ1_0>(),  KernelsOf<DType::kTQ2_0>(),
                KernelsOf<DType::kMXFP4>(),  KernelsOf<DType::kNVFP4>(),  KernelsOf<DType::kInt4>(),
                KernelsOf<DType::kInt8>(),   KernelsOf<DType::kFp8>()},
    .quantize_q8 = QuantizeQ8,
    .rms_norm = RmsNorm,
    .layer_norm = LayerNorm,
    .rope = Rope,
    .glu = Glu,
    .activate = Activate,
    .softcap = Softcap,
    .store_kv = StoreKv,
    .attend = Attend,
    .merge_states = MergeStates,
    .finish_state = FinishState};

}  // namespace adit::kernels::avx512
