// What the parts of the forward pass reach.

#include <nlohmann/json.hpp>
#include <utility>

#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What had to be read and computed by an operation; null where that is not counted.
const plan::Work* WorkOfOp(nn::Op op, const plan::PassWork& work) {
  switch (op) {
    case nn::Op::kLinear:
      return &work.linear;
    case nn::Op::kAttention:
      return &work.attention;
    case nn::Op::kOutput:
      return &work.output;
    case nn::Op::kEmbed:
    case nn::Op::kNorm:
    case nn::Op::kRope:
    case nn::Op::kActivation:
      break;
  }
  return nullptr;
}

OrderedJson KernelsJson(const ModelFigures& model, double peak_bytes_per_s) {
  const engine::EngineStats& stats = *model.engine;
  double total_s = 0.0;
  for (const double seconds : stats.op_seconds) total_s += seconds;
  OrderedJson kernels = OrderedJson::array();
  for (int i = 0; i < nn::kNumOps; ++i) {
    const auto op = static_cast<nn::Op>(i);
    const double seconds = stats.op_seconds[static_cast<size_t>(i)];
    OrderedJson kernel = {{"op", nn::OpName(op)},
                          {"variant", model.kernels},
                          {"seconds", seconds},
                          {"share", total_s > 0 ? seconds / total_s : 0.0}};
    if (const plan::Work* work = WorkOfOp(op, stats.work); work != nullptr && seconds > 0) {
      kernel["gb_per_s"] = work->bytes / seconds * 1e-9;
      kernel["gflop_per_s"] = work->ops() / seconds * 1e-9;
      if (peak_bytes_per_s > 0) kernel["memory_ratio"] = work->bytes / seconds / peak_bytes_per_s;
    }
    kernels.push_back(std::move(kernel));
  }
  return {{"model", model.model}, {"steps", stats.scheduler.steps}, {"kernels", std::move(kernels)}};
}

}  // namespace

std::unique_ptr<Reply> ShowKernels(Call& call) {
  const MetricsNow now = call.service.FiguresNow();
  OrderedJson data = OrderedJson::array();
  for (const ModelFigures& model : now.models) {
    if (model.engine) data.push_back(KernelsJson(model, now.peak_bytes_per_s));
  }
  return JsonAnswer({{"object", "list"}, {"peak_gb_per_s", now.peak_bytes_per_s * 1e-9}, {"data", std::move(data)}});
}

}  // namespace adit::server
