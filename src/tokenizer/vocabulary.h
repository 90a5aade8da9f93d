#ifndef ADIT_TOKENIZER_VOCABULARY_H_
#define ADIT_TOKENIZER_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"
#include "tokenizer/piece_table.h"
#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {

// Far above any vocabulary in use (262,144 entries, pieces of a few hundred bytes).
inline constexpr int64_t kMaxTokens = int64_t{1} << 24;
inline constexpr size_t kMaxPieceBytes = 65'535;

inline constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";

// The entries of a vocabulary. Invariants: pieces and types have one entry for each id; no two pieces that are not
// empty are equal; all of them are in the index; a piece of type kByte is "<0xNN>" and NN is its byte.
struct Vocabulary {
  PieceTable pieces;
  std::vector<TokenType> types;

  int64_t size() const { return pieces.size(); }
  TokenType Type(int32_t id) const { return types[static_cast<size_t>(id)]; }
  // Control and unknown tokens: looked for in trusted text only, and not shown unless asked for.
  bool IsHidden(int32_t id) const { return Type(id) == TokenType::kControl || Type(id) == TokenType::kUnknown; }
};

// The byte that a piece of the form "<0xNN>" names.
std::optional<uint8_t> ByteOfPiece(std::string_view piece);

// From `tokenizer.ggml.tokens` and `.token_type`. Without the latter all entries are normal.
Result<Vocabulary> LoadVocabulary(const formats::GgufMetadata& metadata);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_VOCABULARY_H_
