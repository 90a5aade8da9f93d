#include <gtest/gtest.h>

#include "formats/gguf.h"
#include "support/allocation_watch.h"
#include "support/gguf_cases.h"

namespace adit::formats {
namespace {

TEST(GgufAllocation, StaysSmallWhateverCountsASmallFileClaims) {
  for (const auto& cases :
       {test::BrokenGgufHeaderCases(), test::BrokenGgufPairCases(), test::BrokenGgufTensorCases()}) {
    for (const test::GgufCase& broken : cases) {
      test::ResetAllocationWatch();
      const auto file = GgufFile::Parse(broken.bytes, "test.gguf");
      const test::AllocationWatch watch = test::ReadAllocationWatch();
      EXPECT_FALSE(file.ok()) << broken.name;
      EXPECT_LE(watch.largest_bytes, size_t{64} << 10) << broken.name;
      EXPECT_GT(watch.count, 0) << broken.name;
    }
  }
}

}  // namespace
}  // namespace adit::formats
