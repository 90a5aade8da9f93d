#include "nn/op_times.h"

namespace adit::nn {

const char* OpName(Op op) {
  switch (op) {
    case Op::kEmbed:
      return "embed";
    case Op::kNorm:
      return "norm";
    case Op::kLinear:
      return "linear";
    case Op::kRope:
      return "rope";
    case Op::kAttention:
      return "attention";
    case Op::kActivation:
      return "activation";
    case Op::kOutput:
      return "output";
  }
  return "unknown";
}

}  // namespace adit::nn
