#ifndef ADIT_QUANT_SCALE_FITTER_H_
#define ADIT_QUANT_SCALE_FITTER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adit/status.h"
#include "nn/exec_context.h"
#include "quant/packed_floats.h"
#include "tensor/encode_groups.h"

// Scales of groups by what rounding does to outputs. With scales by each group's own weights, errors w - q of a row add
// up wherever inputs point the same way, as activations mostly do. With the codes as they are, the part q_g of q that
// is group g becomes (1 + c_g) q_g, and the changes c of a row are those for which d^T H d is least, where
// d = w - sum of (1 + c_g) q_g, and H is the sum of x x^T over tokens: as many linear equations as the row has groups.
namespace adit::quant {

class ScaleFitter {
 public:
  // `hessian` [n, n] is H; elements above the diagonal are not read. n is a multiple of the group's size.
  // ResourceExhausted for memory.
  static Result<ScaleFitter> Make(const std::vector<float>& hessian, int64_t n, const GroupScales& groups,
                                  const nn::ExecContext& context);

  // Rows that are fitted together read H once.
  static constexpr int64_t kTogether = 64;

  // Fits the scales of rows `blocks`, which are `weights` [num_rows, n] rounded. A row that has no best scales, as one
  // with a NaN, or whose best ones are not all above 0, stays as it is. Thread-safe.
  void Fit(const float* weights, int64_t num_rows, std::byte* blocks) const;

 private:
  // What there is to solve for each row.
  struct Systems {
    std::vector<double> products;  // [num_rows, num_groups, num_groups], q_g^T H q_h
    std::vector<double> errors;    // [num_rows, num_groups], q_g^T H (w - q)
  };

  ScaleFitter() = default;
  int64_t num_groups() const { return static_cast<int64_t>(columns_.size()); }
  Systems SystemsOf(const std::vector<float>& values, const std::vector<float>& errors, int64_t num_rows) const;

  int64_t n_ = 0;
  int64_t group_size_ = 0;
  GroupScales groups_;
  std::vector<PackedFloats> columns_;  // of H, those of each group: [n, group_size]
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_SCALE_FITTER_H_
