#ifndef ADIT_TESTS_SUPPORT_GGUF_CASES_H_
#define ADIT_TESTS_SUPPORT_GGUF_CASES_H_

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "adit/status.h"

namespace adit::test {

// A GGUF file of a few hundred bytes and what reading it must give.
struct GgufCase {
  std::string name;
  std::vector<std::byte> bytes;
  StatusCode code = StatusCode::kCorrupt;
  std::vector<std::string> message;  // parts that the message must hold: what, where, got, wanted
};

// For GoogleTest's messages.
void PrintTo(const GgufCase& gguf_case, std::ostream* out);

// Files that must load: one value of each type, one tensor of each type, version 2, no tensors at all and more.
std::vector<GgufCase> ValidGgufCases();

// Files that break the header, the key-value pairs or the tensor table. They are also the seeds of the fuzz target.
std::vector<GgufCase> BrokenGgufHeaderCases();
std::vector<GgufCase> BrokenGgufPairCases();
std::vector<GgufCase> BrokenGgufTensorCases();

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_GGUF_CASES_H_
