#ifndef ADIT_KERNELS_KERNEL_TABLE_H_
#define ADIT_KERNELS_KERNEL_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "tensor/dtype.h"

namespace adit::kernels {

// Every operation of one kernel set. All functions are pure: they touch what their arguments name and nothing else,
// take no lock, allocate nothing, and give the same bits for a row whatever other rows are in the call.
struct KernelTable {
  const char* name;                   // as ADIT_ISA takes it
  KvType native_kv;                   // what `auto` stores keys and values as
  WeightKernels weights[kNumDTypes];  // indexed by DType
  // One row of num_cols floats (a multiple of 32) into the Q8 form of matmul.h.
  void (*quantize_q8)(const float* x, int64_t num_cols, std::byte* row) noexcept;
  void (*rms_norm)(const RmsNormArgs& args) noexcept;
  void (*layer_norm)(const LayerNormArgs& args) noexcept;
  void (*rope)(const RopeArgs& args) noexcept;
  void (*glu)(const GluArgs& args) noexcept;
  void (*activate)(const ActivateArgs& args) noexcept;
  void (*softcap)(const SoftcapArgs& args) noexcept;
  void (*store_kv)(const StoreKvArgs& args) noexcept;
  // Computes each chunk of `work` by itself and merges it into work.states, in order.
  void (*attend)(const AttendArgs& args, const AttendWork& work) noexcept;
  // into = into merged with `from`, the state of later positions; both are states of attention.h.
  void (*merge_states)(const float* from, float* into, int v_dim) noexcept;
  // out[v_dim] = values / sum of a state that has seen at least one position.
  void (*finish_state)(const float* state, float* out, int v_dim) noexcept;
};

// Complete: there is a portable kernel for every operation and type.
const KernelTable& RefTable();

// The tables of the instruction sets. What a set has no kernel of its own for is null here and comes from the next
// lower set (kernel_sets.h); callers take a completed table from dispatch.h.
namespace avx2 {
extern const KernelTable kTable;
}
namespace avx512 {
extern const KernelTable kTable;
}
namespace avx512bf16 {
extern const KernelTable kTable;
}

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_KERNEL_TABLE_H_
