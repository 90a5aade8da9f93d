#include <optional>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"
#include "tokenizer/json_fields.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

using NormalizerResult = Result<std::unique_ptr<Normalizer>>;

NormalizerResult ParseBert(JsonValue value, const std::string& where) {
  BertNormalizerOptions options;
  ADIT_ASSIGN_OR_RETURN(options.clean_text, BoolOr(value, "clean_text", true, where));
  ADIT_ASSIGN_OR_RETURN(options.handle_chinese_chars, BoolOr(value, "handle_chinese_chars", true, where));
  ADIT_ASSIGN_OR_RETURN(options.lowercase, BoolOr(value, "lowercase", true, where));
  ADIT_ASSIGN_OR_RETURN(options.strip_accents, BoolOr(value, "strip_accents", options.lowercase, where));
  return MakeBert(options);
}

NormalizerResult ParseStrip(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const bool left, BoolOr(value, "strip_left", true, where));
  ADIT_ASSIGN_OR_RETURN(const bool right, BoolOr(value, "strip_right", true, where));
  return MakeStrip(left, right);
}

NormalizerResult ParseReplace(JsonValue value, const std::string& where) {
  constexpr size_t kMaxContentBytes = 1024;
  ADIT_ASSIGN_OR_RETURN(SplitPattern pattern, ParseSplitPattern(value["pattern"], where));
  ADIT_ASSIGN_OR_RETURN(const std::string_view content, StringOf(value, "content", where));
  if (content.size() > kMaxContentBytes) {
    return Unsupported("{}: 'content' has {} bytes, this build knows up to {}", where, content.size(),
                       kMaxContentBytes);
  }
  return MakeReplace(std::move(pattern), std::string(content));
}

NormalizerResult ParsePrecompiled(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view text, StringOr(value, "precompiled_charsmap", "", where));
  if (text.empty()) return MakeSequence({});
  const std::optional<std::string> bytes = DecodeBase64(text);
  if (!bytes) return Corrupt("{}: 'precompiled_charsmap' is not base64", where);
  ADIT_ASSIGN_OR_RETURN(Charsmap map, Charsmap::Parse(*bytes, where + ": 'precompiled_charsmap'"));
  return MakeCharsmap(std::move(map));
}

NormalizerResult ParseSequence(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const JsonValue list, ArrayOf(value, "normalizers", where));
  std::vector<std::unique_ptr<Normalizer>> steps;
  ADIT_RETURN_IF_ERROR(list.ForEach([&](JsonValue entry) -> Status {
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<Normalizer> step, ParseNormalizer(entry, where));
    if (step != nullptr) steps.push_back(std::move(step));
    return Status();
  }));
  return MakeSequence(std::move(steps));
}

NormalizerResult ParsePrepend(JsonValue value, const std::string& where) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view text, StringOf(value, "prepend", where));
  return MakePrepend(std::string(text));
}

NormalizerResult ParseKind(std::string_view type, JsonValue value, const std::string& where) {
  if (type == "BertNormalizer") return ParseBert(value, where);
  if (type == "ByteLevel") return MakeByteAlphabet();
  if (type == "Lowercase") return MakeLowercase();
  if (type == "NFC") return MakeUnicodeForm(UnicodeForm::kNfc);
  if (type == "NFD") return MakeUnicodeForm(UnicodeForm::kNfd);
  if (type == "NFKC") return MakeUnicodeForm(UnicodeForm::kNfkc);
  if (type == "NFKD") return MakeUnicodeForm(UnicodeForm::kNfkd);
  if (type == "Nmt") return MakeNmt();
  if (type == "Precompiled") return ParsePrecompiled(value, where);
  if (type == "Prepend") return ParsePrepend(value, where);
  if (type == "Replace") return ParseReplace(value, where);
  if (type == "Sequence") return ParseSequence(value, where);
  if (type == "Strip") return ParseStrip(value, where);
  if (type == "StripAccents") return MakeStripAccents();
  return Unsupported(
      "{}: type {}, this build knows: BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, "
      "Prepend, Replace, Sequence, Strip, StripAccents",
      where, formats::Quoted(type));
}

}  // namespace

Result<std::unique_ptr<Normalizer>> ParseNormalizer(JsonValue value, const std::string& where) {
  // A text may grow so much at most; the rules of real files stay below 2,000 in theory and near 1 in fact.
  constexpr double kMaxGrowth = 65'536;
  if (value.IsNull()) return std::unique_ptr<Normalizer>();
  ADIT_ASSIGN_OR_RETURN(const std::string_view type, TypeOf(value, where));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<Normalizer> normalizer, ParseKind(type, value, where));
  if (normalizer->MaxGrowth() > kMaxGrowth) {
    return Unsupported("{}: may make a text more than {} times as long", where, kMaxGrowth);
  }
  return normalizer;
}

Result<SplitPattern> ParseSplitPattern(JsonValue value, const std::string& where) {
  if (value["String"].IsString()) {
    const std::string_view text = value["String"].String();
    if (text.empty()) return Corrupt("{}: 'pattern' is an empty string", where);
    return SplitPattern::FromText(std::string(text));
  }
  if (!value["Regex"].IsString()) {
    return Corrupt("{}: 'pattern' has neither a string 'String' nor a string 'Regex'", where);
  }
  Result<SplitPattern> pattern = SplitPattern::FromOnig(value["Regex"].String());
  if (!pattern.ok()) return Unsupported("{}: {}", where, pattern.status().message());
  return pattern;
}

}  // namespace adit::tokenizer
