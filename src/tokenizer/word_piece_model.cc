#include "tokenizer/word_piece_model.h"

#include <algorithm>
#include <utility>

namespace adit::tokenizer {
namespace {

bool IsLongerThan(std::string_view word, size_t max_chars) {
  if (word.size() <= max_chars) return false;
  const auto starts_char = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return static_cast<size_t>(std::count_if(word.begin(), word.end(), starts_char)) > max_chars;
}

}  // namespace

WordPieceModel::WordPieceModel(std::span<const TextToken> tokens, WordPieceOptions options)
    : trie_(tokens), options_(std::move(options)) {
  for (const char byte : options_.continuing_prefix) {
    has_continuing_ = has_continuing_ && trie_.Step(continuing_node_, byte);
  }
}

void WordPieceModel::Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const {
  for (const TextRange& range : words) {
    const std::string_view word = text.substr(range.begin, range.end - range.begin);
    const size_t num_ids = ids.size();
    if (!IsLongerThan(word, options_.max_word_chars) && Spell(word, ids)) continue;
    ids.resize(num_ids);
    if (options_.unknown >= 0) ids.push_back(options_.unknown);
  }
}

bool WordPieceModel::Spell(std::string_view word, std::vector<int32_t>& ids) const {
  for (size_t pos = 0; pos < word.size();) {
    if (pos > 0 && !has_continuing_) return false;
    uint32_t node = pos == 0 ? 0 : continuing_node_;
    int32_t longest = -1;
    size_t end = pos;
    for (size_t i = pos; i < word.size() && trie_.Step(node, word[i]); ++i) {
      if (trie_.Token(node) < 0) continue;
      longest = trie_.Token(node);
      end = i + 1;
    }
    if (longest < 0) return false;
    ids.push_back(longest);
    pos = end;
  }
  return true;
}

WordLevelModel::WordLevelModel(std::span<const TextToken> tokens, int32_t unknown) : unknown_(unknown) {
  for (const TextToken& token : tokens) {
    if (!token.text.empty()) words_.Add(token.text, token.id);
  }
}

void WordLevelModel::Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const {
  for (const TextRange& range : words) {
    const int32_t id = words_.Find(text.substr(range.begin, range.end - range.begin));
    if (id >= 0) {
      ids.push_back(id);
    } else if (unknown_ >= 0) {
      ids.push_back(unknown_);
    }
  }
}

}  // namespace adit::tokenizer
