#include "tokenizer/vocabulary.h"

#include <charconv>

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::tokenizer {
namespace {

using formats::GgufMetadata;
using formats::Quoted;

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";

Status AddPiece(const std::string& path, std::string_view piece, PieceTable& pieces) {
  const auto id = static_cast<int32_t>(pieces.size());
  if (piece.size() > kMaxPieceBytes) {
    return Corrupt("gguf: {}: key '{}': token {} has {} bytes, wanted at most {}", path, kTokensKey, id, piece.size(),
                   kMaxPieceBytes);
  }
  pieces.Add(piece);
  if (piece.empty()) return Status();
  if (const int32_t first = pieces.Index(id); first >= 0) {
    return Corrupt("gguf: {}: key '{}': tokens {} and {} are both {}, wanted each once", path, kTokensKey, first, id,
                   Quoted(piece));
  }
  return Status();
}

Status LoadTypes(const GgufMetadata& metadata, Vocabulary& vocabulary) {
  const auto num_tokens = static_cast<size_t>(vocabulary.size());
  if (!metadata.Has(kTypesKey)) {
    vocabulary.types.assign(num_tokens, TokenType::kNormal);
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const std::vector<int32_t> types, metadata.GetInts(kTypesKey));
  if (types.size() != num_tokens) {
    return Corrupt("gguf: {}: key '{}' has {} entries, wanted {}, one for each token", metadata.path(), kTypesKey,
                   types.size(), num_tokens);
  }
  for (size_t i = 0; i < num_tokens; ++i) {
    if (types[i] < static_cast<int32_t>(TokenType::kNormal) || types[i] > static_cast<int32_t>(TokenType::kByte)) {
      return Corrupt("gguf: {}: key '{}': entry {} is {}, wanted 1 to 6", metadata.path(), kTypesKey, i, types[i]);
    }
    const auto type = static_cast<TokenType>(types[i]);
    const std::string_view piece = vocabulary.pieces[static_cast<int32_t>(i)];
    if (type == TokenType::kByte && !ByteOfPiece(piece)) {
      return Corrupt("gguf: {}: key '{}': entry {} is 6, a byte, but the token is {}, wanted '<0xNN>'", metadata.path(),
                     kTypesKey, i, Quoted(piece));
    }
    vocabulary.types.push_back(type);
  }
  return Status();
}

}  // namespace

std::optional<uint8_t> ByteOfPiece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return std::nullopt;
  uint8_t byte = 0;
  const char* const end = piece.data() + 5;
  const auto [parsed, error] = std::from_chars(piece.data() + 3, end, byte, 16);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return byte;
}

Result<Vocabulary> LoadVocabulary(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(const std::span<const std::string> tokens, metadata.GetStrings(kTokensKey));
  if (tokens.empty() || static_cast<int64_t>(tokens.size()) > kMaxTokens) {
    return Corrupt("gguf: {}: key '{}' has {} entries, wanted 1 to {}", metadata.path(), kTokensKey, tokens.size(),
                   kMaxTokens);
  }
  Vocabulary vocabulary;
  for (const std::string& token : tokens) ADIT_RETURN_IF_ERROR(AddPiece(metadata.path(), token, vocabulary.pieces));
  ADIT_RETURN_IF_ERROR(LoadTypes(metadata, vocabulary));
  return vocabulary;
}

}  // namespace adit::tokenizer
