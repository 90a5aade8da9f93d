#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "formats/ggml_type.h"
#include "formats/gguf_cursor_internal.h"
#include "formats/gguf_header_internal.h"
#include "formats/gguf_values_internal.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

constexpr uint32_t kMinVersion = 2;
constexpr uint32_t kMaxVersion = 3;

// Real files hold some tens of pairs and some thousands of tensors at most.
constexpr uint64_t kMaxPairs = 65536;
constexpr uint64_t kMaxGgufTensors = 65536;

// The least that an entry takes: key length, one byte of key, type, one byte of value.
constexpr size_t kMinPairBytes = 8 + 1 + 4 + 1;
// Name length, one byte of name, rank, one dimension, type, offset.
constexpr size_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

// From the GGUF specification.

uint32_t SwapBytes(uint32_t value) {
  return (value >> 24) | ((value >> 8) & 0xff00u) | ((value << 8) & 0xff0000u) | (value << 24);
}

Status NotGguf(std::string_view start, const std::string& path) {
  for (const std::string_view old_magic : {"lmgg", "fmgg", "tjgg", "algg"}) {
    if (start.substr(0, 4) == old_magic) {
      return Unsupported("gguf: {}: a GGML file from before GGUF; convert the original model again", path);
    }
  }
  if (start == "version https://") {
    return Corrupt("gguf: {}: a Git LFS pointer, not the file that it stands for; fetch it with `git lfs pull`", path);
  }
  return Corrupt("gguf: {}: not a GGUF file: starts with {}, wanted 'GGUF'", path, Quoted(start.substr(0, 4)));
}

Status ReadMagic(GgufCursor& cursor, std::span<const std::byte> file) {
  std::string_view magic;
  if (!cursor.ReadText(4, magic)) return cursor.Truncated("magic");
  if (magic == "GGUF") return Status();
  const size_t num_bytes = file.size() < 16 ? file.size() : 16;
  return NotGguf({reinterpret_cast<const char*>(file.data()), num_bytes}, cursor.path());
}

Result<uint32_t> ReadVersion(GgufCursor& cursor) {
  uint32_t version = 0;
  if (!cursor.Read(version)) return cursor.Truncated("version");
  if (version >= kMinVersion && version <= kMaxVersion) return version;
  const uint32_t swapped = SwapBytes(version);
  if (swapped >= 1 && swapped <= kMaxVersion) {
    return Unsupported("gguf: {}: big-endian file of version {}; this build reads little-endian files", cursor.path(),
                       swapped);
  }
  return Unsupported("gguf: {}: version {}, this build reads {} and {}", cursor.path(), version, kMinVersion,
                     kMaxVersion);
}

// A count field and what is left of the file agree.
Status CheckCount(const GgufCursor& cursor, std::string_view what, uint64_t count, uint64_t max_count,
                  size_t min_bytes) {
  if (count > max_count) {
    return ResourceExhausted("gguf: {}: {} {}, the limit is {}", cursor.path(), count, what, max_count);
  }
  if (count > cursor.remaining() / min_bytes) {
    return cursor.Truncated(fmt::format("header of {} {}", count, what));
  }
  return Status();
}

Status ReadShape(GgufCursor& cursor, GgufTensorEntry& tensor) {
  uint32_t rank = 0;
  if (!cursor.Read(rank)) return cursor.Truncated(fmt::format("tensor {}: rank", Quoted(tensor.name)));
  if (rank < 1 || rank > kMaxTensorRank) {
    return Corrupt("gguf: {}: tensor {}: {} dimensions, wanted 1 to {}", cursor.path(), Quoted(tensor.name), rank,
                   kMaxTensorRank);
  }
  tensor.rank = static_cast<int>(rank);
  int64_t num_elements = 1;
  for (int i = 0; i < tensor.rank; ++i) {
    uint64_t size = 0;
    if (!cursor.Read(size)) return cursor.Truncated(fmt::format("tensor {}: shape", Quoted(tensor.name)));
    if (size == 0) {
      return Corrupt("gguf: {}: tensor {}: dimension {} is 0, wanted 1 or more", cursor.path(), Quoted(tensor.name), i);
    }
    if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
        __builtin_mul_overflow(num_elements, static_cast<int64_t>(size), &num_elements)) {
      return Corrupt("gguf: {}: tensor {}: dimension {} of {} makes more than 2^63 - 1 elements", cursor.path(),
                     Quoted(tensor.name), i, size);
    }
    // The file lists the innermost dimension first.
    tensor.shape[static_cast<size_t>(tensor.rank - 1 - i)] = static_cast<int64_t>(size);
  }
  return Status();
}

Status ReadType(GgufCursor& cursor, GgufTensorEntry& tensor) {
  uint32_t number = 0;
  if (!cursor.Read(number)) return cursor.Truncated(fmt::format("tensor {}: type", Quoted(tensor.name)));
  const GgmlType* type = FindGgmlType(number);
  if (type == nullptr) {
    return Unsupported("gguf: {}: tensor {}: unknown type {}", cursor.path(), Quoted(tensor.name), number);
  }
  if (!type->dtype && type->decode == nullptr) {
    return Unsupported("gguf: {}: tensor {}: type {} ({}) is not supported", cursor.path(), Quoted(tensor.name),
                       type->name, number);
  }
  tensor.type = type;
  const int block_elements = type->dtype ? Traits(*type->dtype).block_elements : 1;
  const int block_bytes = type->dtype ? Traits(*type->dtype).block_bytes : type->element_bytes;
  const int64_t row = tensor.shape[static_cast<size_t>(tensor.rank - 1)];
  if (row % block_elements != 0) {
    return Corrupt("gguf: {}: tensor {}: rows of {} elements, wanted a multiple of {} for type {}", cursor.path(),
                   Quoted(tensor.name), row, block_elements, type->name);
  }
  const auto num_blocks =
      static_cast<uint64_t>(tensor.shape[0] * tensor.shape[1] * tensor.shape[2] * tensor.shape[3] / block_elements);
  if (__builtin_mul_overflow(num_blocks, static_cast<uint64_t>(block_bytes), &tensor.size_bytes)) {
    return Corrupt("gguf: {}: tensor {}: {} blocks of {} bytes are more than 2^64 bytes", cursor.path(),
                   Quoted(tensor.name), num_blocks, block_bytes);
  }
  return Status();
}

Result<GgufTensorEntry> ReadTensorEntry(GgufCursor& cursor, uint64_t index) {
  std::string_view name;
  if (!cursor.ReadString(name)) return cursor.Truncated(fmt::format("name of tensor {}", index));
  if (name.empty() || name.size() > kMaxGgufTensorNameBytes || !IsPrintableAscii(name)) {
    return Corrupt("gguf: {}: name {} of tensor {}: {} bytes, wanted 1 to {} of printable ASCII", cursor.path(),
                   Quoted(name), index, name.size(), kMaxGgufTensorNameBytes);
  }
  GgufTensorEntry tensor;
  tensor.name = name;
  ADIT_RETURN_IF_ERROR(ReadShape(cursor, tensor));
  ADIT_RETURN_IF_ERROR(ReadType(cursor, tensor));
  if (!cursor.Read(tensor.offset)) return cursor.Truncated(fmt::format("tensor {}: offset", Quoted(name)));
  return tensor;
}

Result<std::vector<GgufTensorEntry>> ReadTensorTable(GgufCursor& cursor, uint64_t num_tensors) {
  std::vector<GgufTensorEntry> tensors;
  tensors.reserve(static_cast<size_t>(num_tensors));
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < num_tensors; ++i) {
    ADIT_ASSIGN_OR_RETURN(GgufTensorEntry tensor, ReadTensorEntry(cursor, i));
    if (!names.insert(tensor.name).second) {
      return Corrupt("gguf: {}: tensor {} occurs twice", cursor.path(), Quoted(tensor.name));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

Result<GgufHeader> ReadGgufHeader(std::span<const std::byte> file, const std::string& path) {
  GgufCursor cursor(file, path);
  GgufHeader header;
  ADIT_RETURN_IF_ERROR(ReadMagic(cursor, file));
  ADIT_ASSIGN_OR_RETURN(header.version, ReadVersion(cursor));
  uint64_t num_tensors = 0;
  uint64_t num_pairs = 0;
  if (!cursor.Read(num_tensors) || !cursor.Read(num_pairs)) return cursor.Truncated("counts");
  ADIT_RETURN_IF_ERROR(CheckCount(cursor, "tensors", num_tensors, kMaxGgufTensors, kMinTensorBytes));
  ADIT_RETURN_IF_ERROR(CheckCount(cursor, "key-value pairs", num_pairs, kMaxPairs, kMinPairBytes));
  ADIT_ASSIGN_OR_RETURN(header.metadata, ReadGgufMetadata(cursor, num_pairs));
  ADIT_RETURN_IF_ERROR(CheckCount(cursor, "tensors", num_tensors, kMaxGgufTensors, kMinTensorBytes));
  ADIT_ASSIGN_OR_RETURN(header.tensors, ReadTensorTable(cursor, num_tensors));
  header.end = cursor.offset();
  return header;
}

}  // namespace adit::formats
