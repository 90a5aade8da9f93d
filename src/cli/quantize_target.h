#ifndef ADIT_CLI_QUANTIZE_TARGET_H_
#define ADIT_CLI_QUANTIZE_TARGET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "adit/status.h"
#include "base/worker_team.h"
#include "cli/options.h"
#include "formats/gguf.h"
#include "quant/layer_pass.h"
#include "tensor/dtype.h"

namespace adit::cli {

// What tensors become, in the model's order, and which of them are free to become something else.
struct ChosenTypes {
  std::vector<DType> types;
  std::vector<bool> is_free;
};

// The model of that name with quantised tensors widened to F16: what rounding costs is measured on it.
Result<std::unique_ptr<formats::GgufFile>> OpenWide(const std::string& path);

// `chosen`, with types for the free tensors that keep to --target-bpw; tells what it predicts. `importance` [tensors]
// is what columns' errors count, empty where nothing is known. Cancelled when a signal comes; requires a living
// InterruptScope. Else as quant::SolveTargetMix.
Result<std::vector<DType>> TargetTypes(const QuantizeOptions& options, const ChosenTypes& chosen,
                                       const std::vector<std::span<const float>>& importance,
                                       const quant::CalibrationText& text, WorkerTeam& team);

// general.file_type of a file with these types: that of the type which most bytes are in; none where it has no number.
std::optional<uint64_t> FileTypeOf(const formats::GgufFile& model, const std::vector<DType>& types);

}  // namespace adit::cli

#endif  // ADIT_CLI_QUANTIZE_TARGET_H_
