#ifndef ADIT_TENSOR_DECODE_H_
#define ADIT_TENSOR_DECODE_H_

#include <cstddef>
#include <cstdint>

namespace adit {

// One decoder for each DType, reached through DTypeTraits::decode. Each widens num_elements, a multiple of the type's
// block size, from `blocks` to `out`. `blocks` need not be aligned and must not overlap `out`. The results are those of
// the formula in the header of the format, products first and from left to right, rounded to float after each
// operation.
void DecodeF32(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeF16(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeBF16(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ4_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ4_1(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ5_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ5_1(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ8_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ2K(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ3K(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ4K(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ5K(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeQ6K(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ4NL(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ4XS(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ1S(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ1M(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ2XXS(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ2XS(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ2S(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ3XXS(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeIQ3S(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeTQ1_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeTQ2_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeMXFP4(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeNVFP4(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeInt4(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeInt8(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
void DecodeFp8(const std::byte* blocks, float* out, int64_t num_elements) noexcept;

}  // namespace adit

#endif  // ADIT_TENSOR_DECODE_H_
