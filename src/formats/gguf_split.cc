#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/gguf_split_internal.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

// Names count with five digits.
constexpr int64_t kMaxParts = 99999;

// What stands before the ending in the name of any part.
Result<std::string> PrefixOf(const std::string& path, int64_t count) {
  if (count > kMaxParts) return Corrupt("gguf: {}: key 'split.count' is {}, the limit is {}", path, count, kMaxParts);
  const size_t ending_bytes = GgufPartEnding(1, count).size();
  const std::string_view known = std::string_view(path).substr(path.size() - std::min(path.size(), ending_bytes));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string of_count = GgufPartEnding(1, count).substr(6);
  const bool is_part = known.size() == ending_bytes && known[0] == '-' && known.substr(6) == of_count &&
                       std::all_of(known.begin() + 1, known.begin() + 6, is_digit);
  if (is_part) return path.substr(0, path.size() - ending_bytes);
  return Unsupported("gguf: {}: one of {} files by its key 'split.count', but its name does not end like '{}'", path,
                     count, GgufPartEnding(1, count));
}

class SplitGguf final : public GgufFile {
 public:
  explicit SplitGguf(std::vector<std::unique_ptr<GgufFile>> parts) : parts_(std::move(parts)) {}

  // Corrupt when a name occurs in two parts.
  Status Index() {
    for (const auto& part : parts_) {
      for (const TensorInfo& tensor : part->tensors()) {
        if (!index_.emplace(tensor.name, tensors_.size()).second) {
          return Corrupt("gguf: {}: tensor {} is in an earlier part already", part->path(), Quoted(tensor.name));
        }
        tensors_.push_back(tensor);
        origins_.push_back({part.get(), &tensor});
      }
    }
    return Status();
  }

  const TensorInfo* Find(std::string_view name) const override {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
  }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return parts_.front()->path(); }
  void Release(std::span<const std::byte> bytes) const override {
    for (const auto& part : parts_) part->Release(bytes);
  }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override {
    const Origin& origin = origins_[static_cast<size_t>(&tensor - tensors_.data())];
    origin.part->ReadRows(*origin.tensor, first_row, num_rows, out);
  }
  void ReleaseHeader() const override {
    for (const auto& part : parts_) part->ReleaseHeader();
  }
  const GgufMetadata& metadata() const override { return parts_.front()->metadata(); }
  uint32_t version() const override { return parts_.front()->version(); }
  std::string Format() const override { return fmt::format("{}, {} files", parts_.front()->Format(), parts_.size()); }
  size_t size_bytes() const override {
    size_t total = 0;
    for (const auto& part : parts_) total += part->size_bytes();
    return total;
  }

 private:
  struct Origin {
    const GgufFile* part = nullptr;
    const TensorInfo* tensor = nullptr;
  };

  // Constant after Index().
  std::vector<std::unique_ptr<GgufFile>> parts_;
  std::vector<TensorInfo> tensors_;
  std::vector<Origin> origins_;
  std::unordered_map<std::string_view, size_t> index_;
};

// Part `number`, counted from 1, says of itself that it is that.
Status CheckPart(const GgufFile& part, int64_t number, int64_t count) {
  ADIT_ASSIGN_OR_RETURN(const int64_t its_count, part.metadata().GetInt("split.count"));
  ADIT_ASSIGN_OR_RETURN(const int64_t its_number, part.metadata().GetInt("split.no"));
  if (its_count == count && its_number == number - 1) return Status();
  return Corrupt("gguf: {}: part {} of {} by its keys 'split.no' and 'split.count', wanted {} of {}", part.path(),
                 its_number + 1, its_count, number, count);
}

}  // namespace

std::string GgufPartEnding(int64_t part, int64_t count) { return fmt::format("-{:05}-of-{:05}.gguf", part, count); }

Result<std::unique_ptr<GgufFile>> OpenGgufPart(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file.bytes();
  return ParseGgufPart(std::move(file), bytes, path);
}

Result<std::unique_ptr<GgufFile>> OpenSplitGguf(const std::string& path, int64_t count) {
  ADIT_ASSIGN_OR_RETURN(const std::string prefix, PrefixOf(path, count));
  std::vector<std::unique_ptr<GgufFile>> parts;
  size_t num_tensors = 0;
  for (int64_t number = 1; number <= count; ++number) {
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<GgufFile> part, OpenGgufPart(prefix + GgufPartEnding(number, count)));
    ADIT_RETURN_IF_ERROR(CheckPart(*part, number, count));
    num_tensors += part->tensors().size();
    parts.push_back(std::move(part));
  }
  const GgufFile& first = *parts.front();
  ADIT_ASSIGN_OR_RETURN(const int64_t wanted,
                        first.metadata().IntOr("split.tensors.count", static_cast<int64_t>(num_tensors)));
  if (wanted != static_cast<int64_t>(num_tensors)) {
    return Corrupt("gguf: {}: the {} parts have {} tensors, key 'split.tensors.count' says {}", first.path(), count,
                   num_tensors, wanted);
  }
  auto file = std::make_unique<SplitGguf>(std::move(parts));
  ADIT_RETURN_IF_ERROR(file->Index());
  return std::unique_ptr<GgufFile>(std::move(file));
}

}  // namespace adit::formats
