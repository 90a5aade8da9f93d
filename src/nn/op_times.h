#ifndef ADIT_NN_OP_TIMES_H_
#define ADIT_NN_OP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace adit::nn {

// What the phases of a forward pass do.
enum class Op : uint8_t {
  kEmbed,       // rows of the embedding, and angles
  kNorm,        // norms and residuals between blocks, and the 8-bit form of what comes of them
  kLinear,      // products of the layers' matrices
  kRope,        // norms and turns heads, and writes keys and values to their pages
  kAttention,   // and the 8-bit form of what comes of it
  kActivation,  // of feed-forwards, and the 8-bit form
  kOutput,      // the product that gives logits
};
inline constexpr int kNumOps = 7;

// "embed", "norm", "linear", "rope", "attention", "activation" or "output".
const char* OpName(Op op);

// [Op], in seconds.
using OpSeconds = std::array<double, kNumOps>;

// Where the time of passes goes, all workers waiting for the last one in each phase. Used by one worker.
class OpTimes {
 public:
  void Begin() { last_s_ = SteadySeconds(); }
  // What has been done since the last call was `op`.
  void End(Op op) {
    const double now_s = SteadySeconds();
    seconds_[static_cast<size_t>(op)] += now_s - last_s_;
    last_s_ = now_s;
  }
  const OpSeconds& seconds() const { return seconds_; }

 private:
  double last_s_ = 0.0;
  OpSeconds seconds_ = {};
};

}  // namespace adit::nn

#endif  // ADIT_NN_OP_TIMES_H_
