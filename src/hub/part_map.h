#ifndef ADIT_HUB_PART_MAP_H_
#define ADIT_HUB_PART_MAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::hub {

// How far a file has been fetched: it is cut into parts of one size, of which several come at once, each from its
// beginning on. One thread at a time.
class PartMap {
 public:
  // `name`: of the file's contents, so that no file goes on with another's bytes.
  PartMap(std::string name, int64_t size_bytes, int64_t part_bytes);

  int64_t size_bytes() const { return size_bytes_; }
  int64_t done_bytes() const { return done_bytes_; }
  bool complete() const { return done_bytes_ == size_bytes_; }

  // Bytes that nobody has and nobody fetches.
  struct Range {
    size_t part = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };
  // Takes the first part that is wanting, from where it stands; nothing when all are there or taken.
  std::optional<Range> Take();
  // So many more bytes of a taken part are there.
  void Advance(size_t part, int64_t bytes);
  // It may be taken again.
  void Release(size_t part);

  // As text, and back. Parse gives nothing for what is not the map of just this file.
  std::string ToText() const;
  static std::optional<PartMap> Parse(std::string_view text, std::string_view name, int64_t size_bytes);

 private:
  struct Part {
    int64_t done_bytes = 0;
    bool taken = false;
  };
  int64_t PartSize(size_t part) const;

  std::string name_;
  int64_t size_bytes_;
  int64_t part_bytes_;
  int64_t done_bytes_ = 0;  // of all parts
  std::vector<Part> parts_;
};

}  // namespace adit::hub

#endif  // ADIT_HUB_PART_MAP_H_
