#ifndef ADIT_TESTS_SUPPORT_SAFETENSORS_BUILDER_H_
#define ADIT_TESTS_SUPPORT_SAFETENSORS_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adit::test {

// A safetensors file of `header`, exactly as it is, and `data`.
std::vector<std::byte> SafetensorsBytes(std::string_view header, std::span<const std::byte> data);

// Writes safetensors files in memory, tensors one behind the other.
//   SafetensorsBuilder().Add("x", "F32", {2, 2}, bytes).Build();
class SafetensorsBuilder {
 public:
  SafetensorsBuilder& Add(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
                          std::span<const std::byte> bytes);
  SafetensorsBuilder& AddF32(std::string_view name, const std::vector<int64_t>& shape,
                             const std::vector<float>& values);
  std::vector<std::byte> Build() const;

 private:
  std::string entries_;
  std::vector<std::byte> data_;
};

}  // namespace adit::test

#endif  // ADIT_TESTS_SUPPORT_SAFETENSORS_BUILDER_H_
