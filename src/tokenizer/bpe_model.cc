#include "tokenizer/bpe_model.h"

#include <algorithm>
#include <utility>

#include "tokenizer/lenient_utf8.h"

namespace adit::tokenizer {
namespace {

// Words are taken in parts of at most this size, since positions within one are 32 bits.
constexpr size_t kMaxWordBytes = size_t{1} << 30;

}  // namespace

BpeModel::BpeModel(std::span<const TextToken> tokens, MergeTable merges, BpeOptions options)
    : merges_(std::move(merges)),
      options_(std::move(options)),
      plain_symbols_(options_.continuing_prefix.empty() && options_.end_suffix.empty()) {
  byte_ids_.fill(-1);
  for (const TextToken& token : tokens) {
    if (token.text.empty()) continue;
    if (token.text.size() == 1) byte_ids_[static_cast<unsigned char>(token.text[0])] = token.id;
    if (options_.bytes) continue;
    symbols_.Add(token.text, token.id);
    if (plain_symbols_) neighbours_.AddPiece(token.text);
  }
  cuts_ = plain_symbols_;
  for (const int32_t id : options_.byte_fallback) cuts_ = cuts_ && !merges_.Involves(id);
  IndexWords(tokens);
}

void BpeModel::IndexWords(std::span<const TextToken> tokens) {
  if (!plain_symbols_ && !options_.whole_words) return;
  Merger merger;
  std::vector<int32_t> ids;
  for (const TextToken& token : tokens) {
    if (token.text.empty()) continue;
    bool alone = options_.whole_words;
    if (!alone && token.text.size() <= WordTable::kMaxShortBytes) {
      ids.clear();
      EncodeWord(token.text, merger, ids);
      alone = ids.size() == 1 && ids[0] == token.id;
    }
    if (alone) words_.Add(token.text, token.id);
  }
}

void BpeModel::Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const {
  Merger merger;
  for (const TextRange& range : words) {
    std::string_view word = text.substr(range.begin, range.end - range.begin);
    if (const int32_t id = words_.Find(word); id >= 0) {
      ids.push_back(id);
      continue;
    }
    for (; word.size() > kMaxWordBytes; word.remove_prefix(kMaxWordBytes)) {
      EncodeWord(word.substr(0, kMaxWordBytes), merger, ids);
    }
    EncodeWord(word, merger, ids);
  }
}

void BpeModel::EncodeWord(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const {
  if (options_.bytes && options_.byte_fallback.empty() && plain_symbols_) return EncodeBytes(word, merger, ids);
  EncodeCharacters(word, merger, ids);
}

void BpeModel::Merge(Merger& merger) const {
  merger.Run([this](const MergeSymbol& left, const MergeSymbol& right) { return merges_.Find(left.id, right.id); });
}

void BpeModel::EncodeBytes(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const {
  merger.Clear();
  for (size_t i = 0; i < word.size(); ++i) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(word[i])];
    if (id >= 0) {
      merger.Add({static_cast<uint32_t>(i), 1, id});
    } else if (options_.unknown >= 0) {
      AddUnknown(static_cast<uint32_t>(i), 1, merger);
    }
  }
  Merge(merger);
  merger.ForEach([&](const MergeSymbol& symbol) { ids.push_back(symbol.id); });
}

void BpeModel::AddUnknown(uint32_t begin, uint32_t length, Merger& merger) const {
  if (options_.unknown < 0) return;
  MergeSymbol* const last = merger.last();
  if (options_.fuse_unknown && last != nullptr && last->id == options_.unknown) {
    last->length += length;
  } else {
    merger.Add({begin, length, options_.unknown});
  }
}

int32_t BpeModel::SymbolId(std::string_view character, bool first, bool last) const {
  if (plain_symbols_) {
    return character.size() == 1 ? byte_ids_[static_cast<unsigned char>(character[0])] : symbols_.Find(character);
  }
  std::string text;
  if (!first) text = options_.continuing_prefix;
  text.append(character);
  if (last) text.append(options_.end_suffix);
  return symbols_.Find(text);
}

// Symbols of one character that begins at `begin`: itself, or its bytes, or the unknown token.
void BpeModel::AddSymbols(std::string_view character, uint32_t begin, bool first, bool last, Merger& merger) const {
  const auto length = static_cast<uint32_t>(character.size());
  if (const int32_t id = SymbolId(character, first, last); id >= 0) return merger.Add({begin, length, id});
  if (!IsSpelled(character)) return AddUnknown(begin, length, merger);
  for (uint32_t i = 0; i < length; ++i) {
    merger.Add({begin + i, 1, options_.byte_fallback[static_cast<unsigned char>(character[i])]});
  }
}

// Whether what stands before this character cannot matter to it. A character without a token either is one with those
// before it, or leaves nothing, so that its neighbours stand side by side.
bool BpeModel::MayStartPart(std::string_view character) const {
  if (SymbolId(character, false, false) >= 0) return true;
  return options_.byte_fallback.empty() ? options_.unknown >= 0 && !options_.fuse_unknown : IsSpelled(character);
}

bool BpeModel::IsSpelled(std::string_view character) const {
  return !options_.byte_fallback.empty() && std::all_of(character.begin(), character.end(), [this](char byte) {
    return options_.byte_fallback[static_cast<unsigned char>(byte)] >= 0;
  });
}

void BpeModel::EncodeCharacters(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const {
  const auto finish = [&](std::string_view part) {
    const int32_t id = cuts_ && !options_.whole_words ? words_.Find(part) : -1;
    if (id >= 0) {
      ids.push_back(id);
    } else {
      Merge(merger);
      merger.ForEach([&](const MergeSymbol& symbol) { ids.push_back(symbol.id); });
    }
    merger.Clear();
  };
  merger.Clear();
  size_t part_begin = 0;
  uint32_t previous = 0;
  for (size_t pos = 0; pos < word.size();) {
    const std::string_view character = word.substr(pos, CharLength(word[pos]));
    uint32_t packed = PackChar(character);
    if (cuts_ && pos > part_begin && !neighbours_.Contains(previous, packed)) {
      if (MayStartPart(character)) {
        finish(word.substr(part_begin, pos - part_begin));
        part_begin = pos;
      } else if (options_.unknown < 0) {
        packed = previous;
      }
    }
    AddSymbols(character, static_cast<uint32_t>(pos - part_begin), pos == 0, pos + character.size() == word.size(),
               merger);
    previous = packed;
    pos += character.size();
  }
  finish(word.substr(part_begin));
}

}  // namespace adit::tokenizer
