#include "tokenizer/charsmap.h"

#include <algorithm>

#include "base/error.h"

namespace adit::tokenizer {
namespace {

uint32_t ReadWord(std::string_view bytes) {
  uint32_t word = 0;
  for (size_t i = 4; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

bool HasValue(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t Value(uint32_t unit) { return unit & 0x7FFF'FFFF; }
uint32_t Label(uint32_t unit) { return unit & 0x8000'00FF; }
uint32_t Offset(uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

}  // namespace

Result<Charsmap> Charsmap::Parse(std::string_view bytes, const std::string& where) {
  constexpr size_t kHeaderBytes = 4;
  if (bytes.size() < kHeaderBytes) return Corrupt("{}: {} bytes, wanted at least 4", where, bytes.size());
  const size_t trie_bytes = ReadWord(bytes);
  bytes.remove_prefix(kHeaderBytes);
  if (trie_bytes % 4 != 0 || trie_bytes == 0 || trie_bytes >= bytes.size()) {
    return Corrupt("{}: a trie of {} bytes in the {} that follow, wanted a multiple of 4 and replacements behind it",
                   where, trie_bytes, bytes.size());
  }
  Charsmap map;
  for (size_t i = 0; i < trie_bytes; i += 4) map.units_.push_back(ReadWord(bytes.substr(i)));
  map.replacements_ = bytes.substr(trie_bytes);
  if (map.replacements_.back() != '\0') map.replacements_ += '\0';
  for (size_t pos = 0; pos < map.replacements_.size();) {
    const size_t end = map.replacements_.find('\0', pos);
    map.max_replacement_bytes_ = std::max(map.max_replacement_bytes_, end - pos);
    pos = end + 1;
  }
  return map;
}

std::optional<Charsmap::Rule> Charsmap::Search(std::string_view text, bool longest) const {
  std::optional<Rule> found;
  size_t node = Offset(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || Label(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= Offset(unit);
    if (!HasValue(unit)) continue;
    if (node >= units_.size() || Value(units_[node]) >= replacements_.size()) break;
    const char* const replacement = replacements_.data() + Value(units_[node]);
    found = Rule{i + 1, std::string_view(replacement)};
    if (!longest) break;
  }
  return found;
}

}  // namespace adit::tokenizer
