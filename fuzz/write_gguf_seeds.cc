// Writes the seeds of gguf_fuzz, one file for each case of the GGUF tests, to the folder given.
#include <cstdio>
#include <string>

#include "support/gguf_builder.h"
#include "support/gguf_cases.h"

namespace {

constexpr size_t kMaxSeedBytes = 4000;

int WriteSeeds(const std::string& folder, const std::vector<adit::test::GgufCase>& cases) {
  int num_written = 0;
  for (const adit::test::GgufCase& seed : cases) {
    if (seed.bytes.size() > kMaxSeedBytes) continue;
    adit::test::WriteFile(folder + "/" + seed.name, seed.bytes);
    ++num_written;
  }
  return num_written;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  int num_written = WriteSeeds(argv[1], adit::test::ValidGgufCases());
  num_written += WriteSeeds(argv[1], adit::test::BrokenGgufHeaderCases());
  num_written += WriteSeeds(argv[1], adit::test::BrokenGgufPairCases());
  num_written += WriteSeeds(argv[1], adit::test::BrokenGgufTensorCases());
  std::printf("wrote %d seeds\n", num_written);
  return 0;
}
