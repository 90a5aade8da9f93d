#include "tokenizer/space_mark.h"

#include <utility>

namespace adit::tokenizer {
namespace {

std::string UnescapeSpaces(std::string_view piece) {
  std::string out;
  while (!piece.empty()) {
    if (piece.starts_with(kSpaceMark)) {
      out += ' ';
      piece.remove_prefix(kSpaceMark.size());
    } else {
      out += piece[0];
      piece.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::string EscapeSpaces(std::string_view text, bool prefix) {
  std::string out;
  out.reserve(text.size() + text.size() / 2 + kSpaceMark.size());
  if (prefix) out.append(kSpaceMark);
  for (const char c : text) {
    if (c == ' ') {
      out.append(kSpaceMark);
    } else {
      out += c;
    }
  }
  return out;
}

DecodeTable MarkedTexts(const Vocabulary& vocabulary, bool strip_first_space) {
  PieceTable bytes;
  PieceTable first;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.pieces[id];
    const TokenType type = vocabulary.Type(id);
    if (type == TokenType::kByte) {
      bytes.Add(std::string(1, static_cast<char>(*ByteOfPiece(piece))));
    } else if (vocabulary.IsHidden(id) || type == TokenType::kUserDefined) {
      bytes.Add(piece);
      if (strip_first_space) first.Add(piece);
      continue;
    } else {
      bytes.Add(UnescapeSpaces(piece));
    }
    if (strip_first_space) first.Add(bytes[id].substr(bytes[id].starts_with(' ') ? 1 : 0));
  }
  return DecodeTable(std::move(bytes), std::move(first));
}

}  // namespace adit::tokenizer
