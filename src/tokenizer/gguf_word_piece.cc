#include "tokenizer/gguf_word_piece.h"

#include <utility>

#include "base/utf8.h"
#include "tokenizer/clean_up.h"
#include "tokenizer/space_mark.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/text_tokens.h"
#include "tokenizer/unicode_class.h"

namespace adit::tokenizer {
namespace {

// As the decoder of BERT's tokenizer.json writes words: a space before each but the first, and none before marks.
DecodeTable LoadWordTexts(const Vocabulary& vocabulary) {
  PieceTable bytes;
  PieceTable first;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    std::string_view piece = vocabulary.pieces[id];
    const bool starts_word = piece.starts_with(kSpaceMark) || vocabulary.IsHidden(id);
    if (piece.starts_with(kSpaceMark)) piece.remove_prefix(kSpaceMark.size());
    std::string text = std::string(starts_word ? " " : "").append(piece);
    CleanUpSpaces(text);
    bytes.Add(text);
    first.Add(piece);
  }
  return DecodeTable(std::move(bytes), std::move(first));
}

// Words written one behind the other, each with a mark before it.
struct MarkedWords {
  std::string text;
  std::vector<TextRange> words;
  bool in_word = false;

  void StartWord() {
    words.push_back({text.size(), text.size()});
    text.append(kSpaceMark);
    in_word = true;
  }
  void EndCharacter() { words.back().end = text.size(); }
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> GgufWordPiece::Load(const formats::GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(Vocabulary vocabulary, LoadVocabulary(metadata));
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special,
                        LoadSpecialTokens(metadata, vocabulary, {.add_bos = true, .reads_sep = true}));
  Options options;
  ADIT_ASSIGN_OR_RETURN(options.lowercase, metadata.BoolOr("tokenizer.ggml.normalizer.lowercase", true));
  ADIT_ASSIGN_OR_RETURN(options.strip_accents, metadata.BoolOr("tokenizer.ggml.normalizer.strip_accents", true));
  WordPieceModel model(TextTokens(vocabulary), {.unknown = special.unknown.value_or(-1)});
  DecodeTable texts = LoadWordTexts(vocabulary);
  SpecialMatcher matcher = MatcherByType(vocabulary);
  return std::unique_ptr<Tokenizer>(new GgufWordPiece(
      {std::move(vocabulary), std::move(special), std::move(texts), std::move(matcher)}, options, std::move(model)));
}

GgufWordPiece::GgufWordPiece(Parts parts, Options options, WordPieceModel model)
    : VocabularyTokenizer(std::move(parts)),
      options_(options),
      model_(std::move(model)),
      nfd_(MakeUnicodeForm(UnicodeForm::kNfd)) {}

void GgufWordPiece::EncodeRun(const TextRun& run, std::vector<int32_t>& ids) const {
  std::string text = IsValidUtf8(run.text) ? std::string(run.text) : ReplaceInvalidUtf8(run.text);
  if (options_.strip_accents) nfd_->Apply(text);
  MarkedWords out;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char c = DecodeUtf8(rest);
    rest.remove_prefix(c.length);
    if (IsWhiteSpace(c.code_point)) {
      out.in_word = false;
      continue;
    }
    if (c.code_point == 0 || c.code_point == kReplacementCharacter || IsControlCharacter(c.code_point)) continue;
    if (options_.strip_accents && (UnicodeClasses::Get().Of(c.code_point) & kMark)) continue;
    const bool alone = IsPunctuation(c.code_point) || IsIdeograph(c.code_point);
    if (alone || !out.in_word) out.StartWord();
    if (options_.lowercase) {
      AppendLower(c.code_point, out.text);
    } else {
      AppendUtf8(c.code_point, out.text);
    }
    out.EndCharacter();
    if (alone) out.in_word = false;
  }
  model_.Encode(out.text, out.words, ids);
}

}  // namespace adit::tokenizer
