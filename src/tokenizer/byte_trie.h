#ifndef ADIT_TOKENIZER_BYTE_TRIE_H_
#define ADIT_TOKENIZER_BYTE_TRIE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/bpe_model.h"

namespace adit::tokenizer {

// Texts and the tokens they stand for, to be walked byte by byte: a double array (Aoe 1989). The child of node n by
// byte b is node base(n) ^ b, if that one's parent is n. Node 0 is the root.
class ByteTrie {
 public:
  // Of two equal texts the first counts. Empty ones are passed over.
  explicit ByteTrie(std::span<const TextToken> tokens);

  // Goes from `node` to its child by `byte`; false, and no change, if there is none.
  bool Step(uint32_t& node, char byte) const {
    const uint32_t child = units_[node].base ^ static_cast<unsigned char>(byte);
    if (units_[child].parent != node) return false;
    node = child;
    return true;
  }
  // The token whose text ends at `node`, or -1.
  int32_t Token(uint32_t node) const { return units_[node].token; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Unit {
    uint32_t base = 0;  // 0: no children; block 0 holds the root alone
    uint32_t parent = kFree;
    int32_t token = -1;
  };

  uint32_t FindBase(std::span<const unsigned char> labels);
  void AddBlock();

  std::vector<Unit> units_;         // a multiple of 256
  std::vector<uint32_t> open_;      // blocks that still have much room, tried first
  std::vector<uint16_t> num_used_;  // units in use, by block
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_BYTE_TRIE_H_
