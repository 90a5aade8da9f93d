#include "formats/safetensors_type.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tensor/fp8.h"

namespace adit::formats {
namespace {

template <typename T, typename Widen>
void DecodeEach(const std::byte* bytes, float* out, int64_t num_elements, Widen widen) noexcept {
  for (int64_t i = 0; i < num_elements; ++i, bytes += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes, sizeof(T));
    out[i] = widen(element);
  }
}

template <typename T>
void DecodeInteger(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeEach<T>(bytes, out, num_elements, [](T element) { return static_cast<float>(element); });
}

void DecodeE4M3(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeEach<uint8_t>(bytes, out, num_elements, &E4M3ToFloat);
}

void DecodeE5M2(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeEach<uint8_t>(bytes, out, num_elements, &E5M2ToFloat);
}

constexpr SafetensorsType kTypes[] = {
    {"F32", 4, DType::kF32},
    {"F16", 2, DType::kF16},
    {"BF16", 2, DType::kBF16},
    {"F64", 8, std::nullopt, &DecodeF64},
    {"F8_E4M3", 1, std::nullopt, &DecodeE4M3},
    {"F8_E5M2", 1, std::nullopt, &DecodeE5M2},
    {"I8", 1, std::nullopt, &DecodeI8},
    {"I16", 2, std::nullopt, &DecodeI16},
    {"I32", 4, std::nullopt, &DecodeI32},
    {"I64", 8, std::nullopt, &DecodeI64},
    {"U8", 1, std::nullopt, &DecodeInteger<uint8_t>},
    {"U16", 2, std::nullopt, &DecodeInteger<uint16_t>},
    {"U32", 4, std::nullopt, &DecodeInteger<uint32_t>},
    {"U64", 8, std::nullopt, &DecodeInteger<uint64_t>},
    {"BOOL", 1, std::nullopt},
    {"F8_E8M0", 1, std::nullopt},
    {"C64", 8, std::nullopt},
    {"F4", 0, std::nullopt},
    {"F6_E2M3", 0, std::nullopt},
    {"F6_E3M2", 0, std::nullopt},
};

}  // namespace

void DecodeF64(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeEach<double>(bytes, out, num_elements, [](double element) { return static_cast<float>(element); });
}

void DecodeI8(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeInteger<int8_t>(bytes, out, num_elements);
}

void DecodeI16(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeInteger<int16_t>(bytes, out, num_elements);
}

void DecodeI32(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeInteger<int32_t>(bytes, out, num_elements);
}

void DecodeI64(const std::byte* bytes, float* out, int64_t num_elements) noexcept {
  DecodeInteger<int64_t>(bytes, out, num_elements);
}

const SafetensorsType* FindSafetensorsType(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kTypes), std::end(kTypes), [name](const auto& t) { return t.name == name; });
  return row == std::end(kTypes) ? nullptr : row;
}

}  // namespace adit::formats
