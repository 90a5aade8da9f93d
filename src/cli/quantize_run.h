#ifndef ADIT_CLI_QUANTIZE_RUN_H_
#define ADIT_CLI_QUANTIZE_RUN_H_

#include <memory>

#include "adit/status.h"
#include "cli/options.h"
#include "formats/gguf.h"
#include "quant/layer_pass.h"

// The two ways of adit quantize: to a GGUF file (quantize.cc) and to a Hugging Face folder (quantize_folder.cc).
namespace adit::cli {

// Whether a method needs text to calibrate with.
bool NeedsCalibration(const QuantizeOptions& options);
// The tokens of the text, in windows.
Result<quant::CalibrationText> ReadCalibration(const QuantizeOptions& options, const formats::GgufFile& model);
// Writes the folder, for a type of FolderTypeNames. The exit code.
Result<int> QuantizeToFolder(const QuantizeOptions& options, std::unique_ptr<formats::GgufFile> model);

}  // namespace adit::cli

#endif  // ADIT_CLI_QUANTIZE_RUN_H_
