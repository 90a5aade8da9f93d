#include "support/safetensors_reader.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/error.h"
#include "tensor/decode.h"

namespace adit::test {
namespace {

Result<TestTensor> ReadTensor(const nlohmann::json& info, const std::vector<char>& file, size_t data_begin) {
  TestTensor tensor;
  tensor.dtype = info.at("dtype").get<std::string>();
  tensor.shape = info.at("shape").get<std::vector<int64_t>>();
  const auto offsets = info.at("data_offsets").get<std::vector<uint64_t>>();
  const size_t data_bytes = file.size() - data_begin;
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes) {
    return Corrupt("data_offsets {} outside of {} bytes", info.at("data_offsets").dump(), data_bytes);
  }
  const auto* data = reinterpret_cast<const std::byte*>(file.data()) + data_begin;
  tensor.bytes.assign(data + offsets[0], data + offsets[1]);
  return tensor;
}

}  // namespace

int64_t TestTensor::num_elements() const {
  int64_t product = 1;
  for (const int64_t size : shape) product *= size;
  return product;
}

std::vector<float> TestTensor::Floats() const {
  const int64_t count = num_elements();
  std::vector<float> out(static_cast<size_t>(count));
  const size_t element_bytes = dtype == "F32" ? 4 : 2;
  ADIT_CHECK(bytes.size() == out.size() * element_bytes);
  if (dtype == "F32") {
    DecodeF32(bytes.data(), out.data(), count);
  } else if (dtype == "BF16") {
    DecodeBF16(bytes.data(), out.data(), count);
  } else {
    ADIT_CHECK(dtype == "F16");
    DecodeF16(bytes.data(), out.data(), count);
  }
  return out;
}

std::vector<int32_t> TestTensor::Int32s() const {
  std::vector<int32_t> out(static_cast<size_t>(num_elements()));
  ADIT_CHECK(dtype == "I32" && bytes.size() == out.size() * sizeof(int32_t));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Result<TestTensors> ReadSafetensors(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return NotFound("cannot open '{}'", path);
  const std::vector<char> file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  uint64_t header_bytes = 0;
  if (file.size() < sizeof(header_bytes)) return Corrupt("{}: {} bytes", path, file.size());
  std::memcpy(&header_bytes, file.data(), sizeof(header_bytes));
  if (header_bytes > file.size() - sizeof(header_bytes)) return Corrupt("{}: header of {} bytes", path, header_bytes);
  const size_t data_begin = sizeof(header_bytes) + static_cast<size_t>(header_bytes);

  TestTensors tensors;
  try {
    const auto header = nlohmann::json::parse(file.data() + sizeof(header_bytes), file.data() + data_begin);
    for (const auto& [name, info] : header.items()) {
      if (name == "__metadata__") continue;
      ADIT_ASSIGN_OR_RETURN(TestTensor tensor, ReadTensor(info, file, data_begin));
      tensors.emplace(name, std::move(tensor));
    }
  } catch (const nlohmann::json::exception& error) {
    return Corrupt("{}: header: {}", path, error.what());
  }
  return tensors;
}

}  // namespace adit::test
