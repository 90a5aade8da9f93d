#include "tokenizer/sentencepiece_bpe.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "tokenizer/lenient_utf8.h"
#include "tokenizer/space_mark.h"

namespace adit::tokenizer {
namespace {

using formats::GgufMetadata;

// Order of the scores: 0 for the highest.
std::vector<uint32_t> Ranks(const std::vector<float>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<uint32_t> ranks(scores.size());
  uint32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && scores[order[i]] < scores[order[i - 1]]) ++rank;
    ranks[order[i]] = rank;
  }
  return ranks;
}

Result<std::vector<uint32_t>> LoadRanks(const GgufMetadata& metadata, int64_t num_tokens) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<float> scores, metadata.GetFloats(kScoresKey));
  if (static_cast<int64_t>(scores.size()) != num_tokens) {
    return Corrupt("gguf: {}: key '{}' has {} entries, wanted {}, one for each token", metadata.path(), kScoresKey,
                   scores.size(), num_tokens);
  }
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      return Corrupt("gguf: {}: key '{}': entry {} is not a number", metadata.path(), kScoresKey, i);
    }
  }
  return Ranks(scores);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> SentencePieceBpe::Load(const GgufMetadata& metadata) {
  // Without types, byte tokens could not be told from text.
  ADIT_RETURN_IF_ERROR(metadata.GetInts("tokenizer.ggml.token_type").status());
  ADIT_ASSIGN_OR_RETURN(Vocabulary vocabulary, LoadVocabulary(metadata));
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special, LoadSpecialTokens(metadata, vocabulary, {.add_bos = true}));
  ADIT_ASSIGN_OR_RETURN(std::vector<uint32_t> ranks, LoadRanks(metadata, vocabulary.size()));
  ADIT_ASSIGN_OR_RETURN(const bool add_space_prefix, metadata.BoolOr("tokenizer.ggml.add_space_prefix", true));
  DecodeTable texts = MarkedTexts(vocabulary, add_space_prefix);
  SpecialMatcher matcher = MatcherByType(vocabulary);
  return std::unique_ptr<Tokenizer>(
      new SentencePieceBpe({std::move(vocabulary), std::move(special), std::move(texts), std::move(matcher)},
                           add_space_prefix, std::move(ranks)));
}

SentencePieceBpe::SentencePieceBpe(Parts parts, bool add_space_prefix, std::vector<uint32_t> ranks)
    : VocabularyTokenizer(std::move(parts)), add_space_prefix_(add_space_prefix), ranks_(std::move(ranks)) {
  // A vocabulary may lack byte tokens and hold some bytes as pieces of their own.
  for (int byte = 0; byte < 256; ++byte) {
    byte_ids_[static_cast<size_t>(byte)] = FindTextual(std::string(1, static_cast<char>(byte)));
  }
  for (int32_t id = 0; id < this->vocabulary().size(); ++id) {
    const std::string_view piece = this->vocabulary().pieces[id];
    if (this->vocabulary().Type(id) == TokenType::kByte) byte_ids_[*ByteOfPiece(piece)] = id;
    if (!IsTextual(id)) continue;
    neighbours_.AddPiece(piece);
    max_piece_bytes_ = std::max(max_piece_bytes_, piece.size());
  }
}

int32_t SentencePieceBpe::FindTextual(std::string_view text) const {
  const int32_t id = vocabulary().pieces.Find(text);
  return id >= 0 && IsTextual(id) ? id : -1;
}

void SentencePieceBpe::EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const {
  const std::string escaped = EscapeSpaces(run.text, add_space_prefix_ && run.after_special);
  const std::string_view view = escaped;
  Merger merger;
  size_t word_begin = 0;
  uint32_t previous = 0;
  for (size_t pos = 0; pos < view.size();) {
    const std::string_view bytes = view.substr(pos, CharLength(view[pos]));
    const uint32_t c = PackChar(bytes);
    if (pos > word_begin && !neighbours_.Contains(previous, c)) {
      EncodeWord(view.substr(word_begin, pos - word_begin), merger, ids);
      word_begin = pos;
    }
    merger.Add({static_cast<uint32_t>(pos - word_begin), static_cast<uint32_t>(bytes.size()), -1});
    previous = c;
    pos += bytes.size();
  }
  EncodeWord(view.substr(word_begin), merger, ids);
}

void SentencePieceBpe::EncodeWord(std::string_view word, Merger& merger, std::vector<int32_t>& ids) const {
  merger.Run([&](const MergeSymbol& left, const MergeSymbol& right) -> Merge {
    const size_t length = size_t{left.length} + right.length;
    if (length > max_piece_bytes_) return {};
    const int32_t id = FindTextual(word.substr(left.begin, length));
    if (id < 0) return {};
    return {ranks_[static_cast<size_t>(id)], id};
  });
  merger.ForEach([&](const MergeSymbol& symbol) {
    const std::string_view text = word.substr(symbol.begin, symbol.length);
    const int32_t id = symbol.id >= 0 ? symbol.id : FindTextual(text);
    if (id >= 0) {
      ids.push_back(id);
    } else {
      EncodeBytes(text, ids);
    }
  });
  merger.Clear();
}

void SentencePieceBpe::EncodeBytes(std::string_view bytes, std::vector<int32_t>& ids) const {
  for (const char byte : bytes) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id >= 0) {
      ids.push_back(id);
    } else if (special().unknown) {
      ids.push_back(*special().unknown);
    }
  }
}

}  // namespace adit::tokenizer
