#include <algorithm>

#include "kernels/kernel_table.h"
#include "kernels/ref/kernels.h"

namespace adit::kernels {
namespace {

KernelTable MakeRefTable() {
  KernelTable table = {.name = "ref",
                       .native_kv = KvType::kF32,
                       .weights = {},
                       .quantize_q8 = ref::QuantizeQ8,
                       .rms_norm = ref::RmsNorm,
                       .layer_norm = ref::LayerNorm,
                       .rope = ref::Rope,
                       .glu = ref::Glu,
                       .activate = ref::Activate,
                       .softcap = ref::Softcap,
                       .store_kv = ref::StoreKv,
                       .attend = ref::Attend,
                       .merge_states = ref::MergeStates,
                       .finish_state = ref::FinishState};
  std::ranges::copy(ref::Weights(), table.weights);
  return table;
}

}  // namespace

const KernelTable& RefTable() {
  static const KernelTable table = MakeRefTable();
  return table;
}

}  // namespace adit::kernels
