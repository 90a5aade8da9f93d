#ifndef ADIT_NN_LINEAR_H_
#define ADIT_NN_LINEAR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/worker_team.h"
#include "kernels/kernel_table.h"
#include "tensor/dtype.h"

namespace adit::nn {

// A weight matrix as a kernel set multiplies by it: [num_rows, num_cols], outputs by inputs. Borrows its memory.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // `kernels` has a product for `dtype`. Call set_data before use.
  PackedMatrix(const kernels::KernelTable& kernels, DType dtype, int64_t num_rows, int64_t num_cols);

  bool empty() const { return num_rows_ == 0; }
  DType dtype() const { return dtype_; }
  int64_t num_rows() const { return num_rows_; }
  int64_t num_cols() const { return num_cols_; }
  int64_t num_panels() const { return (num_rows_ + kernels_->panel_rows - 1) / kernels_->panel_rows; }
  kernels::ActivationFormat activation() const { return kernels_->activation; }

  // Whether the kernels want the weights rearranged; if not, they read the file's rows in place.
  bool needs_packing() const { return kernels_->pack != nullptr; }
  // Bytes that packing fills, a multiple of 64.
  size_t packed_bytes() const { return needs_packing() ? static_cast<size_t>(num_panels()) * panel_bytes() : 0; }
  size_t panel_bytes() const { return kernels_->panel_bytes(num_cols_); }
  int panel_rows() const { return kernels_->panel_rows; }

  // Packs `num_rows` of the rows into as many `panels` as they fill; they begin where a panel does, and the last panel
  // is filled up only at the end of the matrix. Thread-safe.
  void PackRows(const std::byte* rows, int64_t num_rows, std::byte* panels) const;
  // The packed panels, or the file's rows where nothing is packed; they outlive this.
  void set_data(const std::byte* data) { data_ = data; }

  // out[num_tokens, num_rows] of panels [panel_begin, panel_end); `args` names everything but the weights.
  void Multiply(kernels::MatmulArgs args, int64_t panel_begin, int64_t panel_end) const;

 private:
  const kernels::WeightKernels* kernels_ = nullptr;
  const std::byte* data_ = nullptr;
  DType dtype_ = DType::kF32;
  int64_t num_rows_ = 0;
  int64_t num_cols_ = 0;
};

// y = W x + b.
struct Linear {
  PackedMatrix matrix;
  std::vector<float> bias;  // [num_rows], or empty: none
  // [num_cols], where the matrix has its columns in another order: column k multiplies element column_order[k] of x.
  // Empty: none. RunLinears gathers the elements; RunLinear does not look at it.
  std::vector<int32_t> column_order;
  bool wants_q8() const { return matrix.activation() == kernels::ActivationFormat::kQ8; }
};

// One product of a group that shares its input.
struct LinearJob {
  const Linear* linear = nullptr;
  float* out = nullptr;     // [num_tokens, num_rows]
  int64_t out_stride = 0;   // elements
  bool accumulate = false;  // add to out
};

// What the jobs of a group read: rows of activations, and the second terms of their 8-bit form (q8 alone is set, or
// nothing), which make the error of x about 200 times smaller in the blocks that have them.
struct LinearInput {
  kernels::ActivationView rows;
  kernels::ActivationView second_terms;
};

// Sees what matrices are multiplied with: for statistics of activations.
class LinearObserver {
 public:
  virtual ~LinearObserver() = default;
  // Called by every worker before the products of `jobs`, with the rows that they read, of rows.f32_stride columns.
  // Claims nothing: workers share the columns out by their index. The rows stay as they are until all have returned.
  virtual void Observe(const Worker& worker, std::span<const LinearJob> jobs, const kernels::ActivationView& rows,
                       int64_t num_tokens) = 0;
};

// Runs all jobs, shared out over the team by Claim; every worker calls it in the same phase. No barrier inside.
void RunLinear(Worker& worker, std::span<const LinearJob> jobs, const LinearInput& input, int64_t num_tokens);

}  // namespace adit::nn

#endif  // ADIT_NN_LINEAR_H_
