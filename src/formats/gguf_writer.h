#ifndef ADIT_FORMATS_GGUF_WRITER_H_
#define ADIT_FORMATS_GGUF_WRITER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "formats/atomic_file.h"
#include "formats/gguf_metadata.h"
#include "formats/weight_source.h"

namespace adit::formats {

// What a GGUF file's table says of one tensor.
struct GgufTensorPlan {
  std::string name;
  DType dtype = DType::kF32;
  int rank = 0;
  std::array<int64_t, kMaxTensorRank> shape = {1, 1, 1, 1};  // outermost first, as in TensorInfo

  size_t size_bytes() const;
};

// Writes a GGUF file, version 3, tensor by tensor and each a stretch of bytes at a time, so that nothing need fit in
// memory. The file appears under its name whole or not at all (AtomicFile). Movable; one thread at a time.
// Format: docs/formats/gguf.md.
class GgufWriter {
 public:
  // The header: `values`, general.architecture first and the others by name, and the table of `tensors`.
  // InvalidArgument for names that the format does not allow and for tensors of no elements; Io when the system
  // refuses.
  static Result<GgufWriter> Create(const std::string& path, const std::map<std::string, GgufValue, std::less<>>& values,
                                   std::vector<GgufTensorPlan> tensors);

  // The next bytes of the tensor that is not complete yet, in the order of the table; they may not reach into the next.
  // FailedPrecondition when they do.
  Status Append(std::span<const std::byte> bytes);

  // Puts the file in its place. FailedPrecondition when bytes are missing. Nothing can be appended after.
  Status Finish();

 private:
  GgufWriter(AtomicFile file, std::vector<GgufTensorPlan> tensors)
      : file_(std::move(file)), tensors_(std::move(tensors)) {}

  AtomicFile file_;
  std::vector<GgufTensorPlan> tensors_;
  size_t current_ = 0;        // tensor
  size_t written_bytes_ = 0;  // of it
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_WRITER_H_
