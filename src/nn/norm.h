#ifndef ADIT_NN_NORM_H_
#define ADIT_NN_NORM_H_

#include <cstdint>
#include <vector>

#include "base/worker_team.h"
#include "nn/pass.h"

namespace adit::nn {

enum class NormKind : uint8_t {
  kRms,    // x / rms(x) * weight (Zhang & Sennrich 2019)
  kLayer,  // (x - mean) / deviation * weight + bias (Ba et al. 2016)
};

// A norm over vectors of weight.size() elements.
struct Norm {
  NormKind kind = NormKind::kRms;
  float eps = 1e-5f;
  std::vector<float> weight;  // empty: there is no norm here
  std::vector<float> bias;    // of kLayer, as long as weight; or empty: none

  bool empty() const { return weight.empty(); }
};

// out = norm of each of num_rows vectors, rows packed. out may be x.
void RunNorm(const Pass& pass, const Norm& norm, const float* x, int64_t num_rows, float* out);
// The same of one vector of `dim` elements, whose weights begin at element `first` of the norm's.
void RunNormPart(const Pass& pass, const Norm& norm, int64_t first, int64_t dim, const float* x, float* out);

// What happens to the residual of a row, and to what the next block reads, between two blocks.
struct Join {
  BlockOutput output = BlockOutput::kAddToResidual;  // kApart: Workspace::block_out has yet to be added
  const Norm* output_norm = nullptr;                 // norms it before it is added
  float output_scale = 1.0f;                         // multiplies it then
  const Norm* residual_norm = nullptr;               // norms the residual itself, after the addition
  bool has_next = true;                              // whether another block reads Workspace::normed
  const Norm* next_norm = nullptr;                   // norms the residual for it; null: it reads the residual
  bool next_reads_first = false;                     // it reads the residual as it was before the addition
};

// Does so for each row of the pass. Norms may be null or empty: there is none.
void RunJoin(Worker& worker, const Pass& pass, const Join& join);

}  // namespace adit::nn

#endif  // ADIT_NN_NORM_H_
