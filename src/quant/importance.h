#ifndef ADIT_QUANT_IMPORTANCE_H_
#define ADIT_QUANT_IMPORTANCE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::quant {

// How much each column of each matrix counts: the mean square of the activations that it is multiplied with, over some
// calibration text. Kept in files of the kind that llama.cpp's imatrix tool reads and writes: a GGUF file of
// general.type "imatrix" with, for each matrix NAME, the tensors NAME.in_sum2 [matrices, columns] and NAME.counts
// [matrices, 1].
struct Importance {
  struct Matrix {
    std::vector<float> sums;  // of squares, [columns]
    float count = 0.0f;       // of tokens
  };
  std::map<std::string, Matrix, std::less<>> matrices;  // by the tensor's name, "blk.0.ffn_up.weight"
  std::vector<std::string> datasets;                    // what the text was, for people
  uint64_t num_chunks = 0;                              // pieces of chunk_size tokens that were run
  uint64_t chunk_size = 0;

  // The mean squares of the columns of tensor `name`; that of a joint matrix is the one of its first part, which has
  // the same input. Empty where there is none. Corrupt when there are other than num_columns.
  Result<std::vector<float>> For(std::string_view name, int64_t num_columns, const std::string& path) const;
};

// NotFound or Io when it cannot be read, Corrupt when it is no such file, Unsupported for one of several matrices a
// tensor (experts).
Result<Importance> ReadImportance(const std::string& path);
Status WriteImportance(const Importance& importance, const std::string& path);

}  // namespace adit::quant

#endif  // ADIT_QUANT_IMPORTANCE_H_
