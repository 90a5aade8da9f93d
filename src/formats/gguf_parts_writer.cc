#include "formats/gguf_parts_writer.h"

#include <utility>

#include "base/error.h"
#include "formats/gguf_split_internal.h"

namespace adit::formats {
namespace {

constexpr std::string_view kGgufEnding = ".gguf";

using TensorPlans = std::vector<GgufTensorPlan>;

size_t BytesOfPlans(const TensorPlans& tensors) {
  size_t bytes = 0;
  for (const GgufTensorPlan& tensor : tensors) bytes += tensor.size_bytes();
  return bytes;
}

// The tensors of each part, in order.
std::vector<TensorPlans> ShareOut(const TensorPlans& tensors, size_t max_part_bytes) {
  std::vector<TensorPlans> parts(1);
  size_t bytes = 0;
  for (const GgufTensorPlan& tensor : tensors) {
    if (max_part_bytes > 0 && bytes > 0 && bytes + tensor.size_bytes() > max_part_bytes) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().push_back(tensor);
    bytes += tensor.size_bytes();
  }
  return parts;
}

GgufValue SplitValue(GgufType type, size_t number) { return {.type = type, .value = static_cast<uint64_t>(number)}; }

}  // namespace

Result<GgufPartsWriter> GgufPartsWriter::Create(const std::string& path,
                                                const std::map<std::string, GgufValue, std::less<>>& values,
                                                const std::vector<GgufTensorPlan>& tensors, size_t max_part_bytes) {
  std::vector<TensorPlans> shares = ShareOut(tensors, max_part_bytes);
  GgufPartsWriter writer;
  for (const TensorPlans& share : shares) writer.left_bytes_.push_back(BytesOfPlans(share));
  if (shares.size() == 1) {
    ADIT_ASSIGN_OR_RETURN(GgufWriter only, GgufWriter::Create(path, values, std::move(shares.front())));
    writer.parts_.push_back(std::move(only));
    return writer;
  }
  if (!path.ends_with(kGgufEnding)) {
    return InvalidArgument("gguf: {}: {} parts, whose names end like '{}'; wanted a name that ends with {}", path,
                           shares.size(), GgufPartEnding(1, static_cast<int64_t>(shares.size())), kGgufEnding);
  }
  const std::string stem = path.substr(0, path.size() - kGgufEnding.size());
  const auto count = static_cast<int64_t>(shares.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    std::map<std::string, GgufValue, std::less<>> keys;
    if (i == 0) keys = values;
    keys["split.no"] = SplitValue(GgufType::kU16, i);
    keys["split.count"] = SplitValue(GgufType::kU16, shares.size());
    keys["split.tensors.count"] = {.type = GgufType::kI32, .value = static_cast<int64_t>(tensors.size())};
    ADIT_ASSIGN_OR_RETURN(GgufWriter part, GgufWriter::Create(stem + GgufPartEnding(static_cast<int64_t>(i) + 1, count),
                                                              keys, std::move(shares[i])));
    writer.parts_.push_back(std::move(part));
  }
  return writer;
}

Status GgufPartsWriter::Append(std::span<const std::byte> bytes) {
  while (current_ + 1 < parts_.size() && left_bytes_[current_] == 0) ++current_;
  ADIT_RETURN_IF_ERROR(parts_[current_].Append(bytes));
  left_bytes_[current_] -= bytes.size();
  return Status();
}

Status GgufPartsWriter::Finish() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (left_bytes_[i] > 0) return FailedPrecondition("gguf: part {} lacks {} bytes", i + 1, left_bytes_[i]);
  }
  // The one with the keys last, so that what is there first names parts that are there.
  for (size_t i = parts_.size(); i-- > 0;) ADIT_RETURN_IF_ERROR(parts_[i].Finish());
  return Status();
}

}  // namespace adit::formats
