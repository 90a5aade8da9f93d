#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/quoted.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/clean_up.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

using formats::Quoted;

// Of what one token adds to a text.
constexpr size_t kMaxTextBytes = 65'535;
constexpr size_t kMaxSteps = 64;

enum class Place { kInside, kFirst, kLast };

// What a decoder does to one token's text.
using TokenStep = std::function<void(std::string& token, Place place)>;

struct Decoder {
  std::vector<TokenStep> steps;
  bool differs_first = false;  // the first token of a sequence is treated in another way
  bool differs_last = false;
  bool fused = false;  // the tokens have become one text; what follows sees it whole
  EndStrip strip;
};

Status ParseReplace(JsonValue value, const std::string& where, Decoder& decoder) {
  ADIT_ASSIGN_OR_RETURN(SplitPattern pattern, ParseSplitPattern(value["pattern"], where));
  ADIT_ASSIGN_OR_RETURN(const std::string_view content, StringOf(value, "content", where));
  if (content.size() > kMaxTextBytes) return Corrupt("{}: 'content' has {} bytes", where, content.size());
  const JsonValue text = value["pattern"]["String"];
  const bool one_character = text.IsString() && DecodeUtf8(text.String()).length == text.String().size();
  if (decoder.fused && (!one_character || decoder.strip.front + decoder.strip.back > 0)) {
    return Unsupported("{}: a Replace of the whole text, this build knows it of one character and before Strip", where);
  }
  if (text.IsString()) {
    decoder.steps.push_back([from = std::string(text.String()), to = std::string(content)](std::string& token, Place) {
      token = ReplaceAll(token, from, to);
    });
    return Status();
  }
  const auto normalizer = std::shared_ptr<Normalizer>(MakeReplace(std::move(pattern), std::string(content)));
  decoder.steps.push_back([normalizer](std::string& token, Place) {
    // A byte that a token stands for need not be UTF-8, which the expression is for.
    if (IsValidUtf8(token)) normalizer->Apply(token);
  });
  return Status();
}

// One token less the character, up to so many times at its ends.
void StripToken(const EndStrip& strip, std::string& token) {
  std::string_view rest = token;
  for (int32_t i = 0; i < strip.front && rest.starts_with(strip.text); ++i) rest.remove_prefix(strip.text.size());
  for (int32_t i = 0; i < strip.back && rest.ends_with(strip.text); ++i) rest.remove_suffix(strip.text.size());
  token = std::string(rest);
}

Status ParseStrip(JsonValue value, const std::string& where, Decoder& decoder) {
  constexpr int64_t kMaxStrip = 1024;
  EndStrip strip;
  ADIT_ASSIGN_OR_RETURN(const std::string_view content, StringOf(value, "content", where));
  ADIT_ASSIGN_OR_RETURN(const int64_t start, IntOr(value, "start", 0, where));
  ADIT_ASSIGN_OR_RETURN(const int64_t stop, IntOr(value, "stop", 0, where));
  if (content.empty() || DecodeUtf8(content).length != content.size()) {
    return Corrupt("{}: 'content' is {}, wanted one character", where, Quoted(content));
  }
  if (start < 0 || stop < 0 || start > kMaxStrip || stop > kMaxStrip) {
    return Corrupt("{}: 'start' is {} and 'stop' {}, wanted 0 to {}", where, start, stop, kMaxStrip);
  }
  strip = {std::string(content), static_cast<int32_t>(start), static_cast<int32_t>(stop)};
  if (!decoder.fused) {
    decoder.steps.push_back([strip](std::string& token, Place) { StripToken(strip, token); });
    return Status();
  }
  if (!decoder.strip.text.empty()) return Unsupported("{}: a second Strip of the whole text", where);
  decoder.strip = strip;
  return Status();
}

void AddByteLevel(Decoder& decoder) {
  decoder.steps.push_back([](std::string& token, Place) {
    DecodedPiece decoded = DecodeByteLevel(token);
    if (decoded.in_alphabet) token = std::move(decoded.bytes);
  });
  decoder.fused = true;
}

void AddByteFallback(Decoder& decoder) {
  decoder.steps.push_back([](std::string& token, Place) {
    if (const auto byte = ByteOfPiece(token)) token.assign(1, static_cast<char>(*byte));
  });
}

Status ParseMetaspace(JsonValue value, const std::string& where, Decoder& decoder) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view mark, StringOr(value, "replacement", "\xE2\x96\x81", where));
  ADIT_ASSIGN_OR_RETURN(const bool prefix, BoolOr(value, "add_prefix_space", true, where));
  ADIT_ASSIGN_OR_RETURN(const std::string_view scheme,
                        StringOr(value, "prepend_scheme", prefix ? "always" : "never", where));
  if (mark.empty()) return Corrupt("{}: 'replacement' is empty", where);
  const bool drops_first = prefix && scheme != "never";
  decoder.differs_first = decoder.differs_first || drops_first;
  decoder.steps.push_back([mark = std::string(mark), drops_first](std::string& token, Place place) {
    token = ReplaceAll(token, mark, place == Place::kFirst && drops_first ? "" : " ");
  });
  return Status();
}

Status ParseWordPiece(JsonValue value, const std::string& where, Decoder& decoder) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view prefix, StringOr(value, "prefix", "##", where));
  ADIT_ASSIGN_OR_RETURN(const bool cleanup, BoolOr(value, "cleanup", true, where));
  decoder.differs_first = true;
  decoder.steps.push_back([prefix = std::string(prefix), cleanup](std::string& token, Place place) {
    if (place != Place::kFirst) {
      if (token.starts_with(prefix)) {
        token.erase(0, prefix.size());
      } else {
        token.insert(token.begin(), ' ');
      }
    }
    if (cleanup) CleanUpSpaces(token);
  });
  return Status();
}

Status ParseBpe(JsonValue value, const std::string& where, Decoder& decoder) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view suffix, StringOr(value, "suffix", "</w>", where));
  if (suffix.empty()) return Corrupt("{}: 'suffix' is empty", where);
  decoder.differs_last = true;
  decoder.steps.push_back([suffix = std::string(suffix)](std::string& token, Place place) {
    token = ReplaceAll(token, suffix, place == Place::kLast ? "" : " ");
  });
  return Status();
}

Status Collect(JsonValue value, const std::string& where, Decoder& decoder) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, TypeOf(value, where));
  if (type == "Sequence") {
    ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(value, "decoders", where));
    return list.ForEach([&](JsonValue entry) { return Collect(entry, where, decoder); });
  }
  if (type == "Fuse") {
    decoder.fused = true;
    return Status();
  }
  if (type == "Replace") return ParseReplace(value, where, decoder);
  if (type == "Strip") return ParseStrip(value, where, decoder);
  if (decoder.fused) return Unsupported("{}: type {} behind a step that joins the tokens", where, Quoted(type));
  if (type == "BPEDecoder") return ParseBpe(value, where, decoder);
  if (type == "ByteFallback") {
    AddByteFallback(decoder);
    return Status();
  }
  if (type == "ByteLevel") {
    AddByteLevel(decoder);
    return Status();
  }
  if (type == "Metaspace") return ParseMetaspace(value, where, decoder);
  if (type == "WordPiece") return ParseWordPiece(value, where, decoder);
  return Unsupported(
      "{}: type {}, this build knows: BPEDecoder, ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, "
      "WordPiece",
      where, Quoted(type));
}

Result<PieceTable> Texts(const Vocabulary& vocabulary, const Decoder& decoder, Place place, const std::string& where) {
  PieceTable texts;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    std::string text(vocabulary.pieces[id]);
    for (const TokenStep& step : decoder.steps) {
      step(text, place);
      if (text.size() > kMaxTextBytes) {
        return Corrupt("{}: token {} becomes a text of {} bytes, wanted at most {}", where, id, text.size(),
                       kMaxTextBytes);
      }
    }
    texts.Add(text);
  }
  return texts;
}

}  // namespace

Result<DecodeTable> ParseDecoder(JsonValue value, const Vocabulary& vocabulary, const std::string& where) {
  Decoder decoder;
  if (value.IsNull()) {
    // Without a decoder, tokens are words.
    decoder.differs_first = true;
    decoder.steps.push_back([](std::string& token, Place place) {
      if (place != Place::kFirst) token.insert(token.begin(), ' ');
    });
  } else {
    ADIT_RETURN_IF_ERROR(Collect(value, where, decoder));
  }
  if (decoder.differs_first && decoder.differs_last) {
    return Unsupported("{}: steps that treat the first token and steps that treat the last in another way", where);
  }
  if (decoder.steps.size() > kMaxSteps) return Unsupported("{}: more than {} steps", where, kMaxSteps);
  PieceTable first;
  PieceTable last;
  ADIT_ASSIGN_OR_RETURN(PieceTable inside, Texts(vocabulary, decoder, Place::kInside, where));
  if (decoder.differs_first) {
    ADIT_ASSIGN_OR_RETURN(first, Texts(vocabulary, decoder, Place::kFirst, where));
  }
  if (decoder.differs_last) {
    ADIT_ASSIGN_OR_RETURN(last, Texts(vocabulary, decoder, Place::kLast, where));
  }
  return DecodeTable(std::move(inside), std::move(first), std::move(last), std::move(decoder.strip));
}

}  // namespace adit::tokenizer
