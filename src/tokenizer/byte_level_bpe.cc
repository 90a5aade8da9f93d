#include "tokenizer/byte_level_bpe.h"

#include <fmt/core.h>

#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/quoted.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/lenient_utf8.h"

namespace adit::tokenizer {
namespace {

using formats::GgufMetadata;
using formats::Quoted;

constexpr std::string_view kMergesKey = "tokenizer.ggml.merges";
constexpr std::string_view kPreKey = "tokenizer.ggml.pre";

// The ids that a merge entry "left right" joins and makes.
struct MergeIds {
  int32_t left;
  int32_t right;
  int32_t result;
};

Result<MergeIds> ParseMerge(const std::string& path, size_t index, std::string_view entry, const PieceTable& pieces) {
  // Pieces are written without spaces, but one might begin with one.
  const size_t space = entry.find(' ', 1);
  if (space == std::string_view::npos || space + 1 == entry.size()) {
    return Corrupt("gguf: {}: key '{}': entry {} is {}, wanted two tokens with a space between", path, kMergesKey,
                   index, Quoted(entry));
  }
  const std::string_view left = entry.substr(0, space);
  const std::string_view right = entry.substr(space + 1);
  const std::string result = std::string(left).append(right);
  const MergeIds ids = {pieces.Find(left), pieces.Find(right), pieces.Find(result)};
  const std::string_view unknown = ids.left < 0 ? left : ids.right < 0 ? right : std::string_view(result);
  if (ids.left < 0 || ids.right < 0 || ids.result < 0) {
    return Corrupt("gguf: {}: key '{}': entry {} is {}, but {} is not a token", path, kMergesKey, index, Quoted(entry),
                   Quoted(unknown));
  }
  return ids;
}

Result<MergeTable> LoadMerges(const GgufMetadata& metadata, const Vocabulary& vocabulary) {
  ADIT_ASSIGN_OR_RETURN(const std::span<const std::string> entries, metadata.GetStrings(kMergesKey));
  if (entries.size() > std::numeric_limits<uint32_t>::max() / 4) {
    return Corrupt("gguf: {}: key '{}' has {} entries, too many", metadata.path(), kMergesKey, entries.size());
  }
  MergeTable merges(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    ADIT_ASSIGN_OR_RETURN(const MergeIds ids, ParseMerge(metadata.path(), i, entries[i], vocabulary.pieces));
    // Text must never turn into a control token, whatever the merges say.
    if (vocabulary.IsHidden(ids.result)) continue;
    merges.Add(ids.left, ids.right, {static_cast<uint32_t>(i), ids.result});
  }
  return merges;
}

// What each token adds to a text. Those that ordinary text may become are indexed by it, if whole_words is set.
PieceTable LoadBytes(const Vocabulary& vocabulary, bool whole_words) {
  PieceTable bytes;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.pieces[id];
    const TokenType type = vocabulary.Type(id);
    if (type == TokenType::kByte) {
      bytes.Add(std::string(1, static_cast<char>(*ByteOfPiece(piece))));
    } else if (vocabulary.IsHidden(id) || type == TokenType::kUserDefined) {
      bytes.Add(piece);
    } else {
      const DecodedPiece decoded = DecodeByteLevel(piece);
      bytes.Add(decoded.bytes);
      if (whole_words && decoded.in_alphabet && !decoded.bytes.empty()) bytes.Index(id);
    }
  }
  return bytes;
}

Result<const PreTokenizer*> SelectPreTokenizer(const GgufMetadata& metadata) {
  if (!metadata.Has(kPreKey)) {
    return Unsupported("gguf: {}: key '{}' is missing, so how to cut text into words is unknown; wanted one of: {}",
                       metadata.path(), kPreKey, PreTokenizerNames());
  }
  ADIT_ASSIGN_OR_RETURN(const std::string_view name, metadata.GetString(kPreKey));
  const PreTokenizer* const found = FindPreTokenizer(name);
  if (found == nullptr) {
    return Unsupported("gguf: {}: key '{}' is {}, this build knows: {}", metadata.path(), kPreKey, Quoted(name),
                       PreTokenizerNames());
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> ByteLevelBpe::Load(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(const PreTokenizer* const pre_tokenizer, SelectPreTokenizer(metadata));
  ADIT_ASSIGN_OR_RETURN(Vocabulary vocabulary, LoadVocabulary(metadata));
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special, LoadSpecialTokens(metadata, vocabulary, pre_tokenizer->adds_bos));
  ADIT_ASSIGN_OR_RETURN(MergeTable merges, LoadMerges(metadata, vocabulary));
  PieceTable bytes = LoadBytes(vocabulary, pre_tokenizer->whole_words);
  return std::unique_ptr<Tokenizer>(
      new ByteLevelBpe(std::move(vocabulary), std::move(special), std::move(bytes), *pre_tokenizer, std::move(merges)));
}

ByteLevelBpe::ByteLevelBpe(Vocabulary vocabulary, SpecialTokens special, PieceTable bytes,
                           const PreTokenizer& pre_tokenizer, MergeTable merges)
    : VocabularyTokenizer(std::move(vocabulary), std::move(special), std::move(bytes), /*strip_first_space=*/false),
      pre_tokenizer_(pre_tokenizer),
      merges_(std::move(merges)) {
  for (int byte = 0; byte < 256; ++byte) {
    const int32_t id = this->vocabulary().pieces.Find(ByteCharacter(static_cast<uint8_t>(byte)));
    byte_ids_[static_cast<size_t>(byte)] = id >= 0 && !this->vocabulary().IsHidden(id) ? id : -1;
  }
}

std::string ByteLevelBpe::Description() const { return fmt::format("gpt2 ({})", pre_tokenizer_.name); }

void ByteLevelBpe::EncodeRun(std::string_view text, bool /*after_special*/, std::vector<int32_t>& ids) const {
  std::string rewritten;
  if (!IsValidUtf8(text)) text = rewritten = RewriteLenient(text);
  WordEnds ends;
  pre_tokenizer_.split(text, ends);
  Merger merger;
  size_t begin = 0;
  for (const size_t end : ends) {
    EncodeWord(text.substr(begin, end - begin), merger, ids);
    begin = end;
  }
}

void ByteLevelBpe::EncodeWord(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const {
  if (pre_tokenizer_.whole_words) {
    if (const int32_t id = bytes().Find(word); id >= 0) {
      ids.push_back(id);
      return;
    }
  }
  merger.Clear();
  for (size_t i = 0; i < word.size(); ++i) {
    merger.Add({static_cast<uint32_t>(i), 1, byte_ids_[static_cast<unsigned char>(word[i])]});
  }
  merger.Run([this](const MergeSymbol& left, const MergeSymbol& right) { return merges_.Find(left.id, right.id); });
  // A byte that has no token leaves none, as in the reference.
  merger.ForEach([&](const MergeSymbol& symbol) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  });
}

}  // namespace adit::tokenizer
