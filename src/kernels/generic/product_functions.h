#ifndef ADIT_KERNELS_GENERIC_PRODUCT_FUNCTIONS_H_
#define ADIT_KERNELS_GENERIC_PRODUCT_FUNCTIONS_H_

#include "kernels/generic/product.h"

namespace adit::kernels::generic {

template <class Matmul>
size_t Product<Matmul>::PanelBytes(int64_t num_cols) noexcept {
  return Matmul::PanelBytes(num_cols);
}
template <class Matmul>
void Product<Matmul>::Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Matmul::Pack(args, panel_begin, panel_end);
}
template <class Matmul>
void Product<Matmul>::Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Matmul::Multiply(args, panel_begin, panel_end);
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_PRODUCT_FUNCTIONS_H_
