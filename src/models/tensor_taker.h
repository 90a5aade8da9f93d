#ifndef ADIT_MODELS_TENSOR_TAKER_H_
#define ADIT_MODELS_TENSOR_TAKER_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "adit/status.h"
#include "formats/weight_source.h"
#include "models/pack.h"
#include "models/weights.h"
#include "nn/exec_context.h"
#include "nn/linear.h"
#include "nn/norm.h"

namespace adit::models {

// Takes the tensors of one checkpoint by name, checks their shapes, remembers which it has taken, and packs the
// matrices. Corrupt, by name, for a tensor that is missing or has another shape.
class TensorTaker {
 public:
  TensorTaker(const formats::WeightSource& source, const nn::ExecContext& context)
      : source_(source), context_(context), in_place_(source) {}

  bool Has(const std::string& name) const { return source_.Find(name) != nullptr; }
  // A matrix is [rows, cols]; a vector counts as one row.
  Result<const formats::TensorInfo*> Take(const std::string& name, int64_t rows, int64_t cols);
  // A matrix whose rows are read one at a time.
  Result<EmbeddingTable> TakeTable(const std::string& name, int64_t rows, int64_t cols);
  // The numbers of one tensor, however many rows they are cut into.
  Status TakeVector(const std::string& name, int64_t rows, int64_t cols, std::vector<float>& out);
  // Of a vector of `rows`, where there is one.
  Status TakeBias(const std::string& name, int64_t rows, std::vector<float>& out);
  // The numbers of a matrix of any number of rows.
  Status TakeRows(const std::string& name, int64_t cols, std::vector<float>& out);
  // NAME.weight, [rows, cols], into norm.weight; of a layer norm also NAME.bias, where there is one.
  Status TakeNorm(const std::string& name, int64_t rows, int64_t cols, nn::Norm& norm);
  // NAME.weight, [rows, cols], and NAME.bias, where there is one.
  Status TakeLinear(const std::string& name, int64_t rows, int64_t cols, nn::Linear& out);
  // The same where checkpoints differ in how they hold the matrices of one input: each of `parts` by its own name, or
  // all, one below the other in this order, as `joint`, which may be one of those names.
  struct Part {
    std::string name;
    int64_t rows = 0;
    nn::Linear* out = nullptr;
  };
  Status TakeParts(const std::string& joint, int64_t cols, const std::vector<Part>& parts);
  // Multiplies by a table that has been taken.
  Status UseTable(const std::string& name, nn::Linear& out);
  // Of the matrices taken so far.
  const ProductCount& products() const { return products_; }
  // Counts a tensor as taken that somebody else has read.
  void Skip(const std::string& name) { taken_.insert(name); }

  // Unsupported for a tensor of the checkpoint that nobody has taken: it would be silently ignored.
  Status CheckAllTaken(const std::string& architecture) const;
  // Packs what kernels want packed into weights.packed, and moves to weights.in_place what is read as it is and the
  // source does not hold so; matrices point into these, or into the source, from now on. They must not have moved since
  // they were taken.
  Status Pack(ModelWeights& weights, const LoadProgress& progress);

 private:
  bool IsJoint(const std::string& joint, const std::vector<Part>& parts) const;
  // Rows [first_row, first_row + rows) of `tensor`.
  Status SetMatrix(nn::Linear& out, const formats::TensorInfo& tensor, int64_t first_row, int64_t rows);

  const formats::WeightSource& source_;
  const nn::ExecContext& context_;
  std::vector<PendingMatrix> pending_;
  RowsInPlace in_place_;
  ProductCount products_;
  std::unordered_set<std::string> taken_;
};

}  // namespace adit::models

#endif  // ADIT_MODELS_TENSOR_TAKER_H_
