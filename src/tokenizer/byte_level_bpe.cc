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

// What each token adds to a text, and the texts that may become a token.
struct TokenTexts {
  PieceTable bytes;
  PieceTable texts;
  std::vector<int32_t> ids;  // of the texts

  void AddText(std::string_view text, int32_t id) {
    texts.Add(text);
    ids.push_back(id);
  }
  std::vector<TextToken> Tokens() const {
    std::vector<TextToken> tokens;
    for (size_t i = 0; i < ids.size(); ++i) tokens.push_back({texts[static_cast<int32_t>(i)], ids[i]});
    return tokens;
  }
};

TokenTexts LoadTexts(const Vocabulary& vocabulary) {
  TokenTexts texts;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.pieces[id];
    const TokenType type = vocabulary.Type(id);
    const DecodedPiece decoded = DecodeByteLevel(piece);
    if (type == TokenType::kByte) {
      texts.bytes.Add(std::string(1, static_cast<char>(*ByteOfPiece(piece))));
    } else if (vocabulary.IsHidden(id) || type == TokenType::kUserDefined) {
      texts.bytes.Add(piece);
      // A byte is one even if its token is user-defined.
      if (!vocabulary.IsHidden(id) && decoded.in_alphabet && decoded.bytes.size() == 1)
        texts.AddText(decoded.bytes, id);
    } else {
      texts.bytes.Add(decoded.bytes);
      if (decoded.in_alphabet) texts.AddText(decoded.bytes, id);
    }
  }
  return texts;
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
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special,
                        LoadSpecialTokens(metadata, vocabulary, {.add_bos = pre_tokenizer->adds_bos}));
  ADIT_ASSIGN_OR_RETURN(MergeTable merges, LoadMerges(metadata, vocabulary));
  TokenTexts texts = LoadTexts(vocabulary);
  BpeModel model(texts.Tokens(), std::move(merges), {.bytes = true, .whole_words = pre_tokenizer->whole_words});
  SpecialMatcher matcher = MatcherByType(vocabulary);
  Cutters cutters;
  for (const std::string_view pattern : pre_tokenizer->patterns) {
    ADIT_ASSIGN_OR_RETURN(SplitPattern compiled, SplitPattern::FromOnig(pattern));
    cutters.push_back(MakePatternCutter(std::move(compiled), CutBehavior::kIsolated, /*inverted=*/false));
  }
  return std::unique_ptr<Tokenizer>(new ByteLevelBpe(
      {std::move(vocabulary), std::move(special), DecodeTable(std::move(texts.bytes)), std::move(matcher)},
      *pre_tokenizer, std::move(cutters), std::move(model)));
}

ByteLevelBpe::ByteLevelBpe(Parts parts, const PreTokenizer& pre_tokenizer, Cutters cutters, BpeModel model)
    : VocabularyTokenizer(std::move(parts)),
      pre_tokenizer_(pre_tokenizer),
      cutters_(std::move(cutters)),
      model_(std::move(model)) {}

std::string ByteLevelBpe::Description() const { return fmt::format("gpt2 ({})", pre_tokenizer_.name); }

void ByteLevelBpe::EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const {
  std::string_view text = run.text;
  std::string rewritten;
  if (!IsValidUtf8(text)) text = rewritten = RewriteLenient(text);
  // Expressions know no surrogates.
  if (!cutters_.empty() && !rewritten.empty()) text = rewritten = ReplaceInvalidUtf8(text);
  std::vector<TextRange> words;
  if (pre_tokenizer_.split != nullptr) {
    WordEnds ends;
    pre_tokenizer_.split(text, ends);
    words.reserve(ends.size());
    size_t begin = 0;
    for (const size_t end : ends) {
      words.push_back({begin, end});
      begin = end;
    }
    if (cutters_.empty()) return model_.Encode(text, words, ids);
  }
  CutText cut(text, run.begin == 0);
  if (!words.empty()) cut.SetWords(std::move(words));
  for (const auto& cutter : cutters_) cutter->Apply(cut);
  model_.Encode(text, cut.words(), ids);
}

}  // namespace adit::tokenizer
