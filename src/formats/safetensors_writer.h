#ifndef ADIT_FORMATS_SAFETENSORS_WRITER_H_
#define ADIT_FORMATS_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "adit/status.h"
#include "formats/atomic_file.h"

namespace adit::formats {

// Writes a safetensors file that holds one F32 tensor, a stretch of elements at a time, so that the tensor need not fit
// in memory. The file appears under its name whole or not at all (AtomicFile). Movable; one thread at a time.
//
// Format: uint64 length of the header, little-endian; the header, a JSON object padded with spaces to a multiple of 8;
// the elements, row-major.
class SafetensorsWriter {
 public:
  // InvalidArgument for a name that is not 1 to 128 characters of letters, digits, '.', '_' and '-', a negative
  // dimension, a size beyond int64, or a folder as `path`; Io when the system refuses.
  static Result<SafetensorsWriter> Create(const std::string& path, std::string_view name,
                                          std::span<const int64_t> shape);

  // The next elements. FailedPrecondition when they are more than the shape has left; Io when the system refuses.
  Status Append(std::span<const float> values);

  // Puts the file in its place. FailedPrecondition when elements are missing. Nothing can be appended after.
  Status Finish();

 private:
  SafetensorsWriter(AtomicFile file, int64_t num_elements) : file_(std::move(file)), num_left_(num_elements) {}

  AtomicFile file_;
  int64_t num_left_ = 0;  // elements
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_SAFETENSORS_WRITER_H_
