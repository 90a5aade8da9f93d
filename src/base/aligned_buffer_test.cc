#include "base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace adit {
namespace {

TEST(AlignedBuffer, IsZeroedAndAlignedToPages) {
  for (size_t bytes : {size_t{1}, size_t{5000}, size_t{5} << 20}) {
    auto buffer = AlignedBuffer::Allocate(bytes, "test");
    ASSERT_TRUE(buffer.ok());
    EXPECT_GE(buffer->size_bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % (bytes >= (2u << 20) ? 2u << 20 : 4096u), 0u);
    EXPECT_EQ(buffer->data()[0], std::byte{0});
    EXPECT_EQ(buffer->data()[bytes - 1], std::byte{0});
    buffer->data()[bytes - 1] = std::byte{1};
  }
}

TEST(AlignedBuffer, RefusesWhatCannotBe) {
  const auto buffer = AlignedBuffer::Allocate(SIZE_MAX - 100, "the test's buffer");
  EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(buffer.status().message().find("the test's buffer"), std::string::npos);
}

TEST(AlignedBuffer, MovesItsMemory) {
  auto first = AlignedBuffer::Allocate(100, "test");
  ASSERT_TRUE(first.ok());
  std::byte* memory = first->data();
  AlignedBuffer second = std::move(first).value();
  AlignedBuffer third;
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(AlignedBuffer().size_bytes(), 0u);
}

}  // namespace
}  // namespace adit
