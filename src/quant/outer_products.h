#ifndef ADIT_QUANT_OUTER_PRODUCTS_H_
#define ADIT_QUANT_OUTER_PRODUCTS_H_

#include <cstdint>
#include <vector>

#include "adit/status.h"
#include "nn/exec_context.h"

namespace adit::quant {

// A += sign * V V^T for a symmetric A [n, n] of which only rows' elements up to the diagonal count (some above it are
// changed too), and V [n, k], both row-major. Done by the whole team with the F32 kernels. ResourceExhausted when the
// memory for V as the kernels want it cannot be had.
Status AddOuterProducts(const std::vector<float>& v, int64_t n, int64_t k, float sign, const nn::ExecContext& context,
                        float* a, int64_t stride);

}  // namespace adit::quant

#endif  // ADIT_QUANT_OUTER_PRODUCTS_H_
