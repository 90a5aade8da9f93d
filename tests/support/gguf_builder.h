#ifndef ADIT_TESTS_SUPPORT_GGUF_BUILDER_H_
#define ADIT_TESTS_SUPPORT_GGUF_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tensor/dtype.h"

namespace adit::test {

// Numbers of value types in a GGUF file, written down apart from the reader's own so that tests hold one to the other.
template <typename T>
constexpr uint32_t GgufNumberOf() {
  if constexpr (std::is_same_v<T, uint8_t>) return 0;
  if constexpr (std::is_same_v<T, int8_t>) return 1;
  if constexpr (std::is_same_v<T, uint16_t>) return 2;
  if constexpr (std::is_same_v<T, int16_t>) return 3;
  if constexpr (std::is_same_v<T, uint32_t>) return 4;
  if constexpr (std::is_same_v<T, int32_t>) return 5;
  if constexpr (std::is_same_v<T, float>) return 6;
  if constexpr (std::is_same_v<T, bool>) return 7;
  if constexpr (std::is_same_v<T, std::string>) return 8;
  if constexpr (std::is_same_v<T, uint64_t>) return 10;
  if constexpr (std::is_same_v<T, int64_t>) return 11;
  if constexpr (std::is_same_v<T, double>) return 12;
}
inline constexpr uint32_t kGgufArrayNumber = 9;

// A tensor exactly as the table of the file lists it, for files that lie.
struct RawGgufTensor {
  std::string name = {};
  std::vector<uint64_t> dims = {};        // innermost first, as in the file
  uint32_t type = 0;                      // ggml's number
  std::vector<std::byte> bytes = {};      // appended to the data section, padded to the alignment
  std::optional<uint32_t> num_dims = {};  // written instead of dims.size(); dims are written as they are
  std::optional<uint64_t> offset = {};    // written instead of where the bytes really are
};

// Writes GGUF files in memory, version 3 unless told otherwise.
//   GgufBuilder().Add<uint32_t>("llama.block_count", 2).AddTensor("x", DType::kF32, {8}, bytes).Build();
// The public fields are written as they are: set one to break a file.
class GgufBuilder {
 public:
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::optional<uint64_t> num_tensors;  // instead of the true counts
  std::optional<uint64_t> num_pairs;
  size_t alignment = 32;  // of the data section and of each tensor; add the key general.alignment yourself

  // A key-value pair of the type T.
  template <typename T>
  GgufBuilder& Add(std::string_view key, std::type_identity_t<T> value) {
    BeginPair(key, GgufNumberOf<T>());
    AppendValue(value);
    return *this;
  }
  template <typename T>
  GgufBuilder& AddArray(std::string_view key, const std::vector<T>& values) {
    BeginPair(key, kGgufArrayNumber);
    AppendValue(GgufNumberOf<T>());
    AppendValue(static_cast<uint64_t>(values.size()));
    for (const T& value : values) AppendValue(value);
    return *this;
  }
  GgufBuilder& AddString(std::string_view key, std::string_view value) {
    return Add<std::string>(key, std::string(value));
  }
  // A pair whose value is `bytes` as they are.
  GgufBuilder& AddRawPair(std::string_view key, uint32_t type, std::span<const std::byte> bytes);

  // A tensor of the given shape, outermost dimension first; `bytes` are its encoded rows.
  GgufBuilder& AddTensor(std::string_view name, DType dtype, std::vector<int64_t> shape, std::vector<std::byte> bytes);
  GgufBuilder& AddTensorF32(std::string_view name, std::vector<int64_t> shape, const std::vector<float>& values);
  GgufBuilder& AddRawTensor(RawGgufTensor tensor);

  std::vector<std::byte> Build() const;

 private:
  void BeginPair(std::string_view key, uint32_t type);
  void AppendValue(const std::string& value);
  template <typename T>
  void AppendValue(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    pairs_.insert(pairs_.end(), bytes, bytes + sizeof(value));
  }

  uint64_t pair_count_ = 0;
  std::vector<std::byte> pairs_;
  std::vector<RawGgufTensor> tensors_;
};

// ggml's number of a type.
inline constexpr uint32_t kNoGgmlNumber = UINT32_MAX;  // of types that no file has
uint32_t GgmlNumberOf(DType dtype);

// Saves bytes under ::testing::TempDir() or wherever `path` says; ends the test program when it cannot.
void WriteFile(const std::string& path, std::span<const std::byte> bytes);

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_GGUF_BUILDER_H_
