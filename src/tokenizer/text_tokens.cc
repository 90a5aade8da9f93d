#include "tokenizer/text_tokens.h"

namespace adit::tokenizer {

std::vector<TextToken> TextTokens(const Vocabulary& vocabulary) {
  std::vector<TextToken> tokens;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.IsHidden(id) && vocabulary.Type(id) != TokenType::kByte) {
      tokens.push_back({vocabulary.pieces[id], id});
    }
  }
  return tokens;
}

}  // namespace adit::tokenizer
