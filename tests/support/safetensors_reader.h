#ifndef ADIT_TESTS_SUPPORT_SAFETENSORS_READER_H_
#define ADIT_TESTS_SUPPORT_SAFETENSORS_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "adit/status.h"

namespace adit::test {

// A tensor of a golden file, row-major.
struct TestTensor {
  std::string dtype;           // as in the file: "F32", "I32", "U8", ...
  std::vector<int64_t> shape;  // empty for a scalar
  std::vector<std::byte> bytes;

  int64_t num_elements() const;
  // The elements of an F32 tensor, or of a BF16 or F16 one widened; any other dtype ends the test program.
  std::vector<float> Floats() const;
  // The elements of an I32 tensor; any other dtype ends the test program.
  std::vector<int32_t> Int32s() const;
};

using TestTensors = std::map<std::string, TestTensor, std::less<>>;

// All tensors of a safetensors file, for goldens of our own making: it checks what it needs to stay inside the file and
// no more. NotFound for a missing file, Corrupt for one that is not safetensors.
Result<TestTensors> ReadSafetensors(const std::string& path);

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_SAFETENSORS_READER_H_
