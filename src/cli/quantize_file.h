#ifndef ADIT_CLI_QUANTIZE_FILE_H_
#define ADIT_CLI_QUANTIZE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "adit/status.h"
#include "cli/options.h"
#include "tensor/dtype.h"

namespace adit::cli {

// What the tensors of a model take.
struct ModelSizes {
  size_t bytes = 0;
  int64_t elements = 0;
  std::map<DType, int64_t> tensors;  // of each type

  double bits_per_weight() const { return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements); }
};

struct QuantizedFile {
  ModelSizes before;
  ModelSizes after;
};

// What `adit quantize` does for one type, with a progress bar; the options are whole. Cancelled when a signal comes;
// requires a living InterruptScope.
Result<QuantizedFile> QuantizeFile(const QuantizeOptions& options);

}  // namespace adit::cli

#endif  // ADIT_CLI_QUANTIZE_FILE_H_
