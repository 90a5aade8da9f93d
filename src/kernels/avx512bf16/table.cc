#include "kernels/avx512bf16/matmul.h"
#include "kernels/kernel_table.h"

namespace adit::kernels::avx512bf16 {
namespace {

template <DType kType>
constexpr WeightKernels KernelsOf() {
  return generic::KernelsOf<Matmul<kType>>(ActivationFormat::kBF16, kPanelRows);
}

constexpr KernelTable MakeTable() {
  KernelTable table = {};
  table.name = "avx512bf16";
  table.native_kv = KvType::kF16;
  table.weights[static_cast<int>(DType::kBF16)] = KernelsOf<DType::kBF16>();
  table.weights[static_cast<int>(DType::kFp8)] = KernelsOf<DType::kFp8>();
  return table;
}

}  // namespace

constexpr KernelTable kTable = MakeTable();

}  // namespace adit::kernels::avx512bf16
