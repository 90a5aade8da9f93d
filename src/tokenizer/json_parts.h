#ifndef ADIT_TOKENIZER_JSON_PARTS_H_
#define ADIT_TOKENIZER_JSON_PARTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "tokenizer/decode_table.h"
#include "tokenizer/json_document.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/special_matcher.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text_cutter.h"
#include "tokenizer/vocabulary.h"
#include "tokenizer/word_model.h"

// The parts of a tokenizer.json, each from its member of the file. `where` begins each message and names the file.
// Corrupt where the format is broken, Unsupported, by name, for what this build does not know.
namespace adit::tokenizer {

// json_normalizer.cc. Null for null.
Result<std::unique_ptr<Normalizer>> ParseNormalizer(JsonValue value, const std::string& where);
// {"String": text} or {"Regex": expression}.
Result<SplitPattern> ParseSplitPattern(JsonValue value, const std::string& where);

// json_pre_tokenizer.cc. The steps of "pre_tokenizer"; none for null.
struct CutterList {
  std::vector<std::unique_ptr<TextCutter>> steps;
  bool gives_bytes = false;  // the last step would write bytes as characters, and leaves that to the model
};
// bytes_wanted: the model can read bytes.
Result<CutterList> ParsePreTokenizer(JsonValue value, bool bytes_wanted, const std::string& where);

// A text that is found before anything else is done.
struct AddedToken {
  int32_t id = -1;
  std::string content;
  bool special = false;
  bool normalized = false;
  MatchOptions match;
};

// json_vocabulary.cc. The entries of "model" and "added_tokens", and of the members "added_tokens_decoder" of
// tokenizer_config.json (`config`, may be missing), which decide where both speak.
struct JsonVocabulary {
  Vocabulary vocabulary;
  std::vector<bool> in_model;     // by id: whether the model has the token
  std::vector<double> scores;     // by id, of a unigram model
  std::vector<AddedToken> added;  // by id
  std::string_view model_type;    // BPE, Unigram, WordPiece, WordLevel
  int32_t unknown = -1;           // the model's token for what it does not know

  // Whether plain text may become the token.
  bool IsTextual(int32_t id) const {
    return in_model[static_cast<size_t>(id)] && !vocabulary.IsHidden(id) && vocabulary.Type(id) != TokenType::kByte;
  }
};
Result<JsonVocabulary> ParseVocabulary(JsonValue root, JsonValue config, const std::string& where);

// json_model.cc. Whether a model can read the bytes of a text instead of characters that stand for them.
bool ModelReadsBytes(JsonValue model, const JsonVocabulary& vocabulary);
// bytes: it shall.
Result<std::unique_ptr<WordModel>> ParseModel(JsonValue model, const JsonVocabulary& vocabulary, bool bytes,
                                              const std::string& where);

// json_decoder.cc.
Result<DecodeTable> ParseDecoder(JsonValue value, const Vocabulary& vocabulary, const std::string& where);

// json_special.cc. Adds to `special` what "post_processor" puts before and behind a text.
Status ParsePostProcessor(JsonValue value, const Vocabulary& vocabulary, const std::string& where,
                          SpecialTokens& special);

// The files beside tokenizer.json; missing where a file is.
struct SideFiles {
  JsonValue tokenizer_config;
  JsonValue special_tokens_map;
  JsonValue generation_config;
};
// json_special.cc. Roles of tokens, what is added at the ends, where generation ends.
Result<SpecialTokens> ParseSpecialTokens(JsonValue root, const SideFiles& files, const Vocabulary& vocabulary,
                                         const std::string& where);

// tokenizer_json.cc. All of it, from the root of a tokenizer.json.
Result<std::unique_ptr<Tokenizer>> MakeTokenizerJson(JsonValue root, const SideFiles& files, const std::string& where);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_JSON_PARTS_H_
