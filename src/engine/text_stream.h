#ifndef ADIT_ENGINE_TEXT_STREAM_H_
#define ADIT_ENGINE_TEXT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/detokenizer.h"
#include "tokenizer/tokenizer.h"

namespace adit::engine {

struct TextStreamOptions {
  std::vector<std::string> stops;  // strings that end the text: whole UTF-8, none of them empty
  int64_t min_tokens = 0;          // tokens in whose text none is looked for
  bool with_special = false;       // control tokens are part of the text
};

// The text of one answer, in pieces that never split a UTF-8 character, up to a stop string. The text ends where, read
// byte for byte, the first stop string is complete, and is cut before that string; of several that are complete there,
// before the longest. So what the text is does not depend on how it was cut into tokens. Held back is only what may
// still become a stop string, and what may still become a character.
class TextStream {
 public:
  // `tokenizer` outlives the object.
  explicit TextStream(const tokenizer::Tokenizer& tokenizer, TextStreamOptions options = {});

  // The text that is certain after `token`, perhaps none; none at all once a stop string has been found.
  // Precondition: 0 <= token < vocab_size().
  std::string Append(int32_t token);
  // What is held back at the end of the answer. May find a stop string too.
  std::string Finish();

  // The stop string that was found, as an index into the options' stops.
  std::optional<size_t> stop() const { return stop_; }
  // Bytes of the text so far: what has been given out and, before a stop string is found, what is held back of whole
  // characters. Where the text of the next token begins.
  size_t num_bytes() const { return num_given_ + held_.size(); }

 private:
  // A stop string and how much of it the text ends with (Knuth, Morris and Pratt 1977).
  struct Pattern {
    std::string text;
    std::vector<size_t> border;  // [i]: longest proper start of text[0..i] that it also ends with
    size_t matched = 0;
  };
  static Pattern MakePattern(std::string text);
  static void Advance(Pattern& pattern, char byte);

  std::string Take(std::string_view text);

  tokenizer::IncrementalDetokenizer detokenizer_;
  std::vector<Pattern> patterns_;
  const int64_t min_tokens_;

  int64_t num_tokens_ = 0;
  std::string held_;
  size_t num_given_ = 0;
  std::optional<size_t> stop_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_TEXT_STREAM_H_
