#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/quoted.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

using formats::Quoted;
using CutterResult = Result<std::unique_ptr<TextCutter>>;

Result<CutBehavior> ParseBehavior(JsonValue value, CutBehavior fallback, const std::string& where) {
  if (value["behavior"].IsNull()) return fallback;
  ADIT_ASSIGN_OR_RETURN(const std::string_view name, StringOf(value, "behavior", where));
  if (name == "Removed") return CutBehavior::kRemoved;
  if (name == "Isolated") return CutBehavior::kIsolated;
  if (name == "MergedWithPrevious") return CutBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return CutBehavior::kMergedWithNext;
  if (name == "Contiguous") return CutBehavior::kContiguous;
  return Unsupported(
      "{}: 'behavior' is {}, this build knows: Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous",
      where, Quoted(name));
}

CutterResult ParseSplit(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(SplitPattern pattern, ParseSplitPattern(value["pattern"], where));
  ADIT_ASSIGN_OR_RETURN(const CutBehavior behavior, ParseBehavior(value, CutBehavior::kIsolated, where));
  ADIT_ASSIGN_OR_RETURN(const bool invert, BoolOr(value, "invert", false, where));
  return MakePatternCutter(std::move(pattern), behavior, invert);
}

// The one character of a member.
Result<std::string_view> CharacterOf(JsonValue value, std::string_view key, std::string_view fallback,
                                     const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view text, StringOr(value, key, fallback, where));
  if (text.empty() || DecodeUtf8(text).length != text.size()) {
    return Corrupt("{}: '{}' is {}, wanted one character", where, key, Quoted(text));
  }
  return text;
}

CutterResult ParseMetaspace(JsonValue value, const std::string& where) {
  MetaspaceOptions options;
  ADIT_ASSIGN_OR_RETURN(options.replacement, CharacterOf(value, "replacement", "\xE2\x96\x81", where));
  ADIT_ASSIGN_OR_RETURN(const bool prefix, BoolOr(value, "add_prefix_space", true, where));
  ADIT_ASSIGN_OR_RETURN(const std::string_view scheme,
                        StringOr(value, "prepend_scheme", prefix ? "always" : "never", where));
  ADIT_ASSIGN_OR_RETURN(options.split, BoolOr(value, "split", true, where));
  if (scheme == "always" && prefix) {
    options.prepend = PrependScheme::kAlways;
  } else if (scheme == "first" && prefix) {
    options.prepend = PrependScheme::kFirst;
  } else if (scheme == "never" || scheme == "always") {
    options.prepend = PrependScheme::kNever;
  } else if (scheme == "first") {
    return Corrupt("{}: 'prepend_scheme' is 'first' and 'add_prefix_space' is false", where);
  } else {
    return Unsupported("{}: 'prepend_scheme' is {}, this build knows: always, first, never", where, Quoted(scheme));
  }
  return MakeMetaspaceCutter(std::move(options));
}

CutterResult ParseByteLevel(JsonValue value, const std::string& where) {
  ByteLevelOptions options;
  ADIT_ASSIGN_OR_RETURN(options.add_prefix_space, BoolOr(value, "add_prefix_space", true, where));
  ADIT_ASSIGN_OR_RETURN(options.use_regex, BoolOr(value, "use_regex", true, where));
  return MakeByteLevelCutter(options);
}

CutterResult ParseDigits(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const bool individual, BoolOr(value, "individual_digits", false, where));
  return MakeCharacterCutter(IsNumeric, individual ? CutBehavior::kIsolated : CutBehavior::kContiguous);
}

CutterResult ParseFixedLength(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const int64_t length, IntOr(value, "length", 5, where));
  if (length < 1) return Corrupt("{}: 'length' is {}, wanted at least 1", where, length);
  return MakeFixedLengthCutter(static_cast<size_t>(length));
}

// Words and rows of symbols; white space goes.
CutterResult MakeWhitespace() {
  const std::string word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}";
  ADIT_ASSIGN_OR_RETURN(SplitPattern pattern, SplitPattern::FromOnig("[" + word + "]+|[^" + word + "\\s]+"));
  return MakePatternCutter(std::move(pattern), CutBehavior::kRemoved, /*inverted=*/true);
}

CutterResult ParseDelimiter(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view delimiter, CharacterOf(value, "delimiter", "", where));
  return MakeDelimiterCutter(DecodeUtf8(delimiter).code_point);
}

CutterResult ParsePunctuation(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const CutBehavior behavior, ParseBehavior(value, CutBehavior::kIsolated, where));
  return MakeCharacterCutter(IsPunctuation, behavior);
}

CutterResult ParseStep(std::string_view type, JsonValue value, const std::string& where) {
  if (type == "ByteLevel") return ParseByteLevel(value, where);
  if (type == "CharDelimiterSplit") return ParseDelimiter(value, where);
  if (type == "Digits") return ParseDigits(value, where);
  if (type == "FixedLength") return ParseFixedLength(value, where);
  if (type == "Metaspace") return ParseMetaspace(value, where);
  if (type == "Punctuation") return ParsePunctuation(value, where);
  if (type == "Split") return ParseSplit(value, where);
  if (type == "Whitespace") return MakeWhitespace();
  if (type == "WhitespaceSplit") return MakeCharacterCutter(IsWhiteSpace, CutBehavior::kRemoved);
  return Unsupported(
      "{}: type {}, this build knows: BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, "
      "Punctuation, Sequence, Split, Whitespace, WhitespaceSplit",
      where, Quoted(type));
}

// The steps in order, sequences within sequences laid out.
Status Collect(JsonValue value, const std::string& where, std::vector<JsonValue>& steps) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, TypeOf(value, where));
  if (type != "Sequence") {
    steps.push_back(value);
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(value, "pretokenizers", where));
  return list.ForEach([&](JsonValue entry) { return Collect(entry, where, steps); });
}

}  // namespace

Result<CutterList> ParsePreTokenizer(JsonValue value, bool bytes_wanted, const std::string& where) {
  constexpr size_t kMaxCutters = 64;
  CutterList list;
  if (value.IsNull()) return list;
  std::vector<JsonValue> steps;
  ADIT_RETURN_IF_ERROR(Collect(value, where, steps));
  if (steps.size() > kMaxCutters)
    return Unsupported("{}: {} steps, this build knows up to {}", where, steps.size(), kMaxCutters);
  size_t num_byte_levels = 0;
  for (const JsonValue step : steps) {
    ADIT_ASSIGN_OR_RETURN(const std::string_view type, TypeOf(step, where));
    if (type == "BertPreTokenizer") {
      list.steps.push_back(MakeCharacterCutter(IsWhiteSpace, CutBehavior::kRemoved));
      list.steps.push_back(MakeCharacterCutter(IsPunctuation, CutBehavior::kIsolated));
      continue;
    }
    num_byte_levels += type == "ByteLevel" ? 1 : 0;
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<TextCutter> cutter, ParseStep(type, step, where));
    list.steps.push_back(std::move(cutter));
  }
  list.gives_bytes = bytes_wanted && num_byte_levels == 1 && list.steps.back()->LeaveBytes();
  return list;
}

}  // namespace adit::tokenizer
