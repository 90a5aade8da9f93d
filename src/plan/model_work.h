#ifndef ADIT_PLAN_MODEL_WORK_H_
#define ADIT_PLAN_MODEL_WORK_H_

#include <cstdint>
#include <span>

#include "models/model_spec.h"
#include "models/weights.h"
#include "nn/kv_cache.h"

namespace adit::plan {

// What has to be read and computed, at the least.
struct Work {
  double bytes = 0.0;
  double q8_ops = 0.0;    // products and additions of 8-bit codes: second terms of activations are not counted
  double bf16_ops = 0.0;  // of BF16 numbers
  double f32_ops = 0.0;   // of floats

  double ops() const { return q8_ops + bf16_ops + f32_ops; }
  Work& operator+=(const Work& other);
};

// The parts of a pass of a model.
struct PassWork {
  Work linear;     // the layers' matrices: packed weights, each once
  Work attention;  // cached keys and values, once for each sequence
  Work output;     // the matrix that gives logits, where any are wanted

  Work Total() const;
  PassWork& operator+=(const PassWork& other);
};

// Rows that one sequence adds in a pass.
struct PassRows {
  int64_t num_tokens = 0;
  int64_t first_position = 0;  // tokens that the cache holds before
  int64_t num_logits = 0;      // rows whose logits are wanted
};

// A pass of several sequences.
PassWork WorkOf(const models::ModelSpec& spec, const models::ModelWeights& weights, const nn::KvLayout& layout,
                std::span<const PassRows> sequences);

// What the machine can do at most.
struct MachineLimits {
  double read_bytes_per_s = 0.0;
  double q8_ops_per_s = 0.0;
  double bf16_ops_per_s = 0.0;
  double f32_ops_per_s = 0.0;
};

// The least time for the work: that of reading or that of computing, whichever is longer. 0 where a limit is unknown.
double LeastSeconds(const Work& work, const MachineLimits& limits);

}  // namespace adit::plan

#endif  // ADIT_PLAN_MODEL_WORK_H_
