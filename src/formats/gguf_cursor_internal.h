#ifndef ADIT_FORMATS_GGUF_CURSOR_INTERNAL_H_
#define ADIT_FORMATS_GGUF_CURSOR_INTERNAL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace adit::formats {

// The header as a whole, key-value pairs and tensor infos, ends within so many bytes. A vocabulary of
// 262,144 tokens takes 7 MB; the bound keeps a sparse file of terabytes from asking for as much memory.
inline constexpr size_t kMaxHeaderBytes = size_t{128} << 20;

// Reads the little-endian fields of a GGUF header one after another; never past the end of the file or kMaxHeaderBytes.
// A read that does not fit returns false and moves nothing; Truncated() then says why.
class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> file, const std::string& path)
      : file_(file), header_(file.first(file.size() < kMaxHeaderBytes ? file.size() : kMaxHeaderBytes)), path_(path) {}

  size_t offset() const { return offset_; }
  size_t remaining() const { return header_.size() - offset_; }
  size_t file_bytes() const { return file_.size(); }
  const std::string& path() const { return path_; }

  template <typename T>
  [[nodiscard]] bool Read(T& out) {
    static_assert(std::endian::native == std::endian::little, "fields are copied as they lie in the file");
    if (remaining() < sizeof(T)) return false;
    std::memcpy(&out, header_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return true;
  }

  // A view into the file.
  [[nodiscard]] bool ReadText(uint64_t num_bytes, std::string_view& out) {
    if (remaining() < num_bytes) return false;
    out = {reinterpret_cast<const char*>(header_.data()) + offset_, static_cast<size_t>(num_bytes)};
    offset_ += static_cast<size_t>(num_bytes);
    return true;
  }

  // A string: 64-bit length, then the bytes.
  [[nodiscard]] bool ReadString(std::string_view& out) {
    const size_t begin = offset_;
    uint64_t num_bytes = 0;
    if (Read(num_bytes) && ReadText(num_bytes, out)) return true;
    offset_ = begin;
    return false;
  }

  // Why a read of `what` at the present offset failed.
  Status Truncated(std::string_view what) const {
    if (header_.size() < file_.size()) {
      return ResourceExhausted("gguf: {}: {} at byte {} reaches past the limit of {} bytes for the header", path_, what,
                               offset_, kMaxHeaderBytes);
    }
    return Corrupt("gguf: {}: {} at byte {} reaches past the end of the file at {}", path_, what, offset_,
                   file_.size());
  }

 private:
  std::span<const std::byte> file_;
  std::span<const std::byte> header_;
  const std::string& path_;
  size_t offset_ = 0;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_CURSOR_INTERNAL_H_
