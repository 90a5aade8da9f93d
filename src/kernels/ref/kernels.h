#ifndef ADIT_KERNELS_REF_KERNELS_H_
#define ADIT_KERNELS_REF_KERNELS_H_

#include <array>

#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "tensor/dtype.h"

// Every operation of a KernelTable in plain C++: the definition of right answers. The header of the argument struct
// says what each computes.
namespace adit::kernels::ref {

// Indexed by DType; every type has a kernel.
const std::array<WeightKernels, kNumDTypes>& Weights();

void QuantizeQ8(const float* x, int64_t num_cols, std::byte* row) noexcept;
void RmsNorm(const RmsNormArgs& args) noexcept;
void LayerNorm(const LayerNormArgs& args) noexcept;
void Rope(const RopeArgs& args) noexcept;
void Glu(const GluArgs& args) noexcept;
void Activate(const ActivateArgs& args) noexcept;
void Softcap(const SoftcapArgs& args) noexcept;
void StoreKv(const StoreKvArgs& args) noexcept;
void Attend(const AttendArgs& args, const AttendWork& work) noexcept;
void MergeStates(const float* from, float* into, int v_dim) noexcept;
void FinishState(const float* state, float* out, int v_dim) noexcept;

}  // namespace adit::kernels::ref

#endif  // ADIT_KERNELS_REF_KERNELS_H_
