#include "kernels/avx512bf16/matmul_bf16.h"
#include "kernels/kernel_table.h"

namespace adit::kernels::avx512bf16 {
namespace {

constexpr KernelTable MakeTable() {
  KernelTable table = {};
  table.name = "avx512bf16";
  table.native_kv = KvType::kF16;
  table.weights[static_cast<int>(DType::kBF16)] = {.activation = ActivationFormat::kBF16,
                                                   .panel_rows = kPanelRows,
                                                   .panel_bytes = PanelBytes,
                                                   .pack = Pack,
                                                   .matmul = Multiply};
  return table;
}

}  // namespace

constexpr KernelTable kTable = MakeTable();

}  // namespace adit::kernels::avx512bf16
