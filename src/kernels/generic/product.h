#ifndef ADIT_KERNELS_GENERIC_PRODUCT_H_
#define ADIT_KERNELS_GENERIC_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.h"

// The functions of a matrix product that the table of a set holds. The table needs the name of Matmul alone; where it
// is defined, with the same three functions to be inlined, product_functions.h is included and Product instantiated.
namespace adit::kernels::generic {

template <class Matmul>
struct Product {
  static size_t PanelBytes(int64_t num_cols) noexcept;
  static void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;
  static void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;
};

template <class Matmul>
constexpr WeightKernels KernelsOf(ActivationFormat activation, int panel_rows) {
  return {.activation = activation,
          .panel_rows = panel_rows,
          .panel_bytes = Product<Matmul>::PanelBytes,
          .pack = Product<Matmul>::Pack,
          .matmul = Product<Matmul>::Multiply};
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_PRODUCT_H_
