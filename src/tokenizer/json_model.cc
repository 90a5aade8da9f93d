#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"
#include "tokenizer/bpe_model.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/json_parts.h"
#include "tokenizer/unigram_model.h"
#include "tokenizer/word_piece_model.h"

namespace adit::tokenizer {
namespace {

using formats::Quoted;
using ModelResult = Result<std::unique_ptr<WordModel>>;

// The tokens that text may become; `texts` keeps those whose text is not the piece.
std::vector<TextToken> TextTokens(const JsonVocabulary& vocabulary, bool bytes, PieceTable& texts) {
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < vocabulary.vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.vocabulary.pieces[id];
    if (piece.empty() || !vocabulary.IsTextual(id)) continue;
    if (bytes) {
      const DecodedPiece decoded = DecodeByteLevel(piece);
      if (!decoded.in_alphabet) continue;
      texts.Add(decoded.bytes);
    } else {
      texts.Add(piece);
    }
    ids.push_back(id);
  }
  std::vector<TextToken> tokens;
  for (size_t i = 0; i < ids.size(); ++i) tokens.push_back({texts[static_cast<int32_t>(i)], ids[i]});
  return tokens;
}

// The token of each byte, "<0x00>" to "<0xFF>"; -1 where there is none.
std::vector<int32_t> ByteTokens(const JsonVocabulary& vocabulary) {
  std::vector<int32_t> ids(256, -1);
  for (int32_t id = 0; id < vocabulary.vocabulary.size(); ++id) {
    const auto byte = ByteOfPiece(vocabulary.vocabulary.pieces[id]);
    if (byte && vocabulary.in_model[static_cast<size_t>(id)]) ids[*byte] = id;
  }
  return ids;
}

// The two texts of a merge: ["a", "b"] or "a b".
std::optional<std::pair<std::string_view, std::string_view>> MergeTexts(JsonValue entry) {
  std::string_view parts[2];
  size_t n = 0;
  if (entry.IsString()) {
    const std::string_view text = entry.String();
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
    return std::pair(text.substr(0, space), text.substr(space + 1));
  }
  const Status status = entry.ForEach([&](JsonValue part) -> Status {
    if (n >= 2 || !part.IsString()) return Corrupt("not a pair of texts");
    parts[n++] = part.String();
    return Status();
  });
  if (!status.ok() || n != 2) return std::nullopt;
  return std::pair(parts[0], parts[1]);
}

Result<MergeTable> ParseMerges(JsonValue model, const JsonVocabulary& vocabulary, std::string_view continuing_prefix,
                               const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(model, "merges", where));
  const PieceTable& pieces = vocabulary.vocabulary.pieces;
  MergeTable merges(list.size());
  uint32_t rank = 0;
  ADIT_RETURN_IF_ERROR(list.ForEach([&](JsonValue entry) -> Status {
    const auto texts = MergeTexts(entry);
    if (!texts) return Corrupt("{}: merge {} is not two texts", where, rank);
    const auto [left, right] = *texts;
    std::string_view rest = right;
    if (rest.starts_with(continuing_prefix)) rest.remove_prefix(continuing_prefix.size());
    const std::string result = std::string(left).append(rest);
    const int32_t ids[] = {pieces.Find(left), pieces.Find(right), pieces.Find(result)};
    const std::string_view names[] = {left, right, result};
    for (size_t i = 0; i < 3; ++i) {
      if (ids[i] < 0) {
        return Corrupt("{}: merge {} joins {} and {}, but {} is not a token", where, rank, Quoted(left), Quoted(right),
                       Quoted(names[i]));
      }
    }
    // Text must never turn into a control token, whatever the merges say.
    if (!vocabulary.vocabulary.IsHidden(ids[2])) merges.Add(ids[0], ids[1], {rank, ids[2]});
    ++rank;
    return Status();
  }));
  return merges;
}

ModelResult ParseBpe(JsonValue model, const JsonVocabulary& vocabulary, bool bytes, const std::string& where) {
  BpeOptions options;
  options.bytes = bytes;
  options.unknown = vocabulary.unknown;
  ADIT_ASSIGN_OR_RETURN(options.whole_words, BoolOr(model, "ignore_merges", false, where));
  ADIT_ASSIGN_OR_RETURN(options.fuse_unknown, BoolOr(model, "fuse_unk", false, where));
  ADIT_ASSIGN_OR_RETURN(const bool byte_fallback, BoolOr(model, "byte_fallback", false, where));
  ADIT_ASSIGN_OR_RETURN(const std::string_view prefix, StringOr(model, "continuing_subword_prefix", "", where));
  ADIT_ASSIGN_OR_RETURN(const std::string_view suffix, StringOr(model, "end_of_word_suffix", "", where));
  options.continuing_prefix = prefix;
  options.end_suffix = suffix;
  if (byte_fallback) options.byte_fallback = ByteTokens(vocabulary);
  ADIT_ASSIGN_OR_RETURN(MergeTable merges, ParseMerges(model, vocabulary, prefix, where));
  PieceTable texts;
  const std::vector<TextToken> tokens = TextTokens(vocabulary, bytes, texts);
  return std::unique_ptr<WordModel>(std::make_unique<BpeModel>(tokens, std::move(merges), std::move(options)));
}

ModelResult ParseUnigram(JsonValue model, const JsonVocabulary& vocabulary, const std::string& where) {
  constexpr double kUnknownPenalty = 10;  // below the lowest score of any token
  UnigramOptions options;
  options.unknown = vocabulary.unknown;
  ADIT_ASSIGN_OR_RETURN(const bool byte_fallback, BoolOr(model, "byte_fallback", false, where));
  if (byte_fallback) options.byte_fallback = ByteTokens(vocabulary);
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t id = 0; id < vocabulary.scores.size(); ++id) {
    if (vocabulary.in_model[id]) lowest = std::min(lowest, vocabulary.scores[id]);
  }
  options.unknown_score = lowest - kUnknownPenalty;
  PieceTable texts;
  const std::vector<TextToken> tokens = TextTokens(vocabulary, /*bytes=*/false, texts);
  return std::unique_ptr<WordModel>(std::make_unique<UnigramModel>(tokens, vocabulary.scores, std::move(options)));
}

ModelResult ParseWordPiece(JsonValue model, const JsonVocabulary& vocabulary, const std::string& where) {
  WordPieceOptions options;
  options.unknown = vocabulary.unknown;
  ADIT_ASSIGN_OR_RETURN(const std::string_view prefix, StringOr(model, "continuing_subword_prefix", "##", where));
  options.continuing_prefix = prefix;
  ADIT_ASSIGN_OR_RETURN(const int64_t max_chars, IntOr(model, "max_input_chars_per_word", 100, where));
  if (max_chars < 1) return Corrupt("{}: 'max_input_chars_per_word' is {}, wanted at least 1", where, max_chars);
  options.max_word_chars = static_cast<size_t>(max_chars);
  PieceTable texts;
  return std::unique_ptr<WordModel>(
      std::make_unique<WordPieceModel>(TextTokens(vocabulary, /*bytes=*/false, texts), std::move(options)));
}

}  // namespace

bool ModelReadsBytes(JsonValue model, const JsonVocabulary& vocabulary) {
  const auto is_set = [&](std::string_view key) {
    const JsonValue value = model[key];
    return !(value.IsNull() || (value.kind() == JsonKind::kBool && !value.Bool()) ||
             (value.IsString() && value.String().empty()));
  };
  return vocabulary.model_type == "BPE" && !is_set("byte_fallback") && !is_set("continuing_subword_prefix") &&
         !is_set("end_of_word_suffix");
}

Result<std::unique_ptr<WordModel>> ParseModel(JsonValue model, const JsonVocabulary& vocabulary, bool bytes,
                                              const std::string& where) {
  if (vocabulary.model_type == "BPE") return ParseBpe(model, vocabulary, bytes, where);
  if (vocabulary.model_type == "Unigram") return ParseUnigram(model, vocabulary, where);
  if (vocabulary.model_type == "WordPiece") return ParseWordPiece(model, vocabulary, where);
  PieceTable texts;
  return std::unique_ptr<WordModel>(
      std::make_unique<WordLevelModel>(TextTokens(vocabulary, /*bytes=*/false, texts), vocabulary.unknown));
}

}  // namespace adit::tokenizer
