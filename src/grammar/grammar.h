#ifndef ADIT_GRAMMAR_GRAMMAR_H_
#define ADIT_GRAMMAR_GRAMMAR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "adit/grammar.h"
#include "adit/status.h"

namespace adit::grammar {

// Which tokens may come next: bit i % 32 of word i / 32 is that of token i.
using TokenMask = std::span<uint32_t>;

inline size_t MaskWords(int64_t vocab_size) { return static_cast<size_t>((vocab_size + 31) / 32); }

// Where one answer stands in its grammar. One thread at a time.
class Matcher {
 public:
  virtual ~Matcher() = default;

  // The tokens that may come next, and those that end a generation where the text may end here. `mask` is
  // MaskWords(vocab_size) long. False when all may come, then the mask holds nothing.
  virtual Result<bool> FillMask(TokenMask mask) = 0;

  // Takes the token that came next. False when the grammar does not allow it; then nothing has changed.
  virtual Result<bool> Accept(int32_t token) = 0;

  // The text so far is one that the grammar describes.
  virtual bool complete() const = 0;
};

}  // namespace adit::grammar

namespace adit {

class Grammar {
 public:
  virtual ~Grammar() = default;

  virtual std::unique_ptr<grammar::Matcher> NewMatcher() const = 0;
  virtual size_t memory_bytes() const = 0;
  virtual int64_t vocab_size() const = 0;
};

}  // namespace adit

#endif  // ADIT_GRAMMAR_GRAMMAR_H_
