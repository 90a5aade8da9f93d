#include "hub/part_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"

namespace adit::hub {
namespace {

constexpr std::string_view kMark = "adit-part-map 1";
constexpr int64_t kMaxParts = 1 << 20;

// The next word of a text, up to a space or a line end; the text goes on behind it.
std::string_view NextWord(std::string_view& text) {
  const size_t end = text.find_first_of(" \n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

std::optional<int64_t> NextNumber(std::string_view& text) {
  const std::string_view word = NextWord(text);
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || rest != word.data() + word.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

PartMap::PartMap(std::string name, int64_t size_bytes, int64_t part_bytes)
    : name_(std::move(name)), size_bytes_(size_bytes), part_bytes_(part_bytes) {
  ADIT_CHECK(size_bytes >= 0 && part_bytes > 0);
  parts_.resize(static_cast<size_t>((size_bytes + part_bytes - 1) / part_bytes));
}

int64_t PartMap::PartSize(size_t part) const {
  return std::min(part_bytes_, size_bytes_ - static_cast<int64_t>(part) * part_bytes_);
}

std::optional<PartMap::Range> PartMap::Take() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.taken || part.done_bytes == PartSize(i)) continue;
    part.taken = true;
    const int64_t begin = static_cast<int64_t>(i) * part_bytes_;
    return Range{.part = i, .begin = begin + part.done_bytes, .end = begin + PartSize(i)};
  }
  return std::nullopt;
}

void PartMap::Advance(size_t part, int64_t bytes) {
  parts_[part].done_bytes += bytes;
  done_bytes_ += bytes;
  ADIT_CHECK(parts_[part].done_bytes <= PartSize(part));
}

void PartMap::Release(size_t part) { parts_[part].taken = false; }

std::string PartMap::ToText() const {
  std::string text = fmt::format("{}\n{} {} {}\n", kMark, name_, size_bytes_, part_bytes_);
  for (const Part& part : parts_) text += fmt::format("{}\n", part.done_bytes);
  return text;
}

std::optional<PartMap> PartMap::Parse(std::string_view text, std::string_view name, int64_t size_bytes) {
  if (!text.starts_with(kMark) || text.size() == kMark.size()) return std::nullopt;
  text.remove_prefix(kMark.size() + 1);
  if (NextWord(text) != name) return std::nullopt;
  const std::optional<int64_t> size = NextNumber(text);
  const std::optional<int64_t> part_bytes = NextNumber(text);
  if (size != size_bytes || !part_bytes || *part_bytes < 1 || *part_bytes < size_bytes / kMaxParts) {
    return std::nullopt;
  }
  PartMap map(std::string(name), size_bytes, *part_bytes);
  for (size_t i = 0; i < map.parts_.size(); ++i) {
    const std::optional<int64_t> done = NextNumber(text);
    if (!done || *done > map.PartSize(i)) return std::nullopt;
    map.Advance(i, *done);
  }
  return map;
}

}  // namespace adit::hub
