#ifndef ADIT_TOKENIZER_TOKENIZER_H_
#define ADIT_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/gguf_metadata.h"

namespace adit::tokenizer {

// What a vocabulary entry is, numbered as `tokenizer.ggml.token_type` does.
enum class TokenType : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// A stretch of the text to encode. Control tokens are looked for only inside trusted segments, so what a user typed
// stays text; between control tokens all segments are encoded as one run of text.
struct TextSegment {
  std::string_view text;
  bool trusted = false;
};

// Where a decoding stands between two tokens. Made empty, changed by Tokenizer alone.
struct DecodeState {
  bool started = false;      // some token has added to the text, or would have as a later one
  bool front_kept = false;   // what may be stripped at the beginning has gone
  int32_t num_stripped = 0;  // of what may be stripped at the beginning
  int32_t last_id = -1;      // a token whose text depends on whether another follows; -1: none
  std::string held;          // text that is stripped if it proves to be the end
};

// Turns text into token ids and back. Immutable after construction and thread-safe.
class Tokenizer {
 public:
  // From the `tokenizer.ggml.*` keys. Unsupported for a model or pre-tokenizer that this build does not know, by name;
  // Corrupt where arrays disagree in length or type or an id lies outside the vocabulary, with the key.
  static Result<std::unique_ptr<Tokenizer>> FromGguf(const formats::GgufMetadata& metadata);

  virtual ~Tokenizer() = default;

  // Ids of `segments`. add_special adds what the model expects at the ends (BOS, EOS) as its metadata says.
  // Bytes that are not UTF-8 are encoded as the reference does (docs/tokenizers.md); never fails on content.
  virtual std::vector<int32_t> Encode(std::span<const TextSegment> segments, bool add_special) const = 0;
  // One segment; parse_special says whether it is trusted.
  std::vector<int32_t> Encode(std::string_view text, bool parse_special, bool add_special) const {
    const TextSegment segment{text, parse_special};
    return Encode(std::span(&segment, 1), add_special);
  }

  // The bytes that token `id` adds to a text inside a sequence; may be part of a UTF-8 character. Control tokens give
  // their text when with_special is set, else nothing. Precondition: 0 <= id < vocab_size().
  virtual std::string TokenBytes(int32_t id, bool with_special) const = 0;
  // Text of a whole sequence: the tokens' bytes, less what belongs to the encoding alone at its ends, such as the space
  // that a SentencePiece model puts before the first word. Ids outside the vocabulary give InvalidArgument.
  virtual Result<std::string> Decode(std::span<const int32_t> ids, bool with_special) const = 0;
  // The same in steps: appends to `out` what is certain of the text after token `id`, and after the last one what was
  // held back. The pieces joined equal Decode. Precondition: 0 <= id < vocab_size().
  virtual void DecodeNext(int32_t id, bool with_special, DecodeState& /*state*/, std::string& out) const {
    out += TokenBytes(id, with_special);
  }
  virtual void DecodeEnd(DecodeState& /*state*/, std::string& /*out*/) const {}

  virtual int64_t vocab_size() const = 0;
  // The vocabulary entry as it is stored (byte-level alphabet, U+2581 for spaces).
  virtual std::string_view Piece(int32_t id) const = 0;
  virtual TokenType Type(int32_t id) const = 0;
  virtual std::optional<int32_t> bos_id() const = 0;
  virtual std::optional<int32_t> eos_id() const = 0;
  virtual bool adds_bos() const = 0;
  virtual bool adds_eos() const = 0;
  // Ids after which generation ends: EOS, end of turn, end of message.
  virtual std::span<const int32_t> end_of_generation_ids() const = 0;
  // "gpt2 (qwen2)" or "llama": algorithm and, for byte-level BPE, pre-tokenizer.
  virtual std::string Description() const = 0;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_TOKENIZER_H_
