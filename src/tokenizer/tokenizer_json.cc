#include "tokenizer/tokenizer_json.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "formats/mapped_file.h"
#include "tokenizer/json_document.h"
#include "tokenizer/json_parts.h"
#include "tokenizer/pipeline_tokenizer.h"

namespace adit::tokenizer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "tokenizer.json";

Result<JsonDocument> ReadJson(const fs::path& path) {
  ADIT_ASSIGN_OR_RETURN(const formats::MappedFile file, formats::MappedFile::Open(path.string()));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.size_bytes());
  return JsonDocument::Parse(text, path.string());
}

// A file that need not be there.
Result<std::optional<JsonDocument>> ReadOptional(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<JsonDocument>();
  ADIT_ASSIGN_OR_RETURN(JsonDocument document, ReadJson(path));
  return std::optional<JsonDocument>(std::move(document));
}

JsonValue RootOf(const std::optional<JsonDocument>& document) { return document ? document->root() : JsonValue(); }

struct Matchers {
  SpecialMatcher plain;
  SpecialMatcher normalized;
  bool normalized_trust = false;
};

// The texts that are looked for before and after the text is normalized.
Matchers MakeMatchers(const JsonVocabulary& vocabulary, const Normalizer* normalizer) {
  Matchers matchers;
  PieceTable known;
  for (const AddedToken& token : vocabulary.added) {
    if (token.content.empty()) continue;
    if (!token.normalized) {
      matchers.plain.Add(token.content, token.id, token.match);
      continue;
    }
    std::string content = token.content;
    if (normalizer != nullptr) normalizer->Apply(content);
    if (content.empty()) continue;
    // Two may have become equal: the first counts.
    known.Add(content);
    if (known.Index(static_cast<int32_t>(known.size()) - 1) >= 0) continue;
    matchers.normalized.Add(content, token.id, token.match);
    matchers.normalized_trust = matchers.normalized_trust || token.match.needs_trust;
  }
  matchers.plain.Build();
  matchers.normalized.Build();
  return matchers;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> MakeTokenizerJson(JsonValue root, const SideFiles& files, const std::string& where) {
  if (!root.IsObject()) return Corrupt("{}: not an object", where);
  ADIT_ASSIGN_OR_RETURN(JsonVocabulary vocabulary, ParseVocabulary(root, files.tokenizer_config, where));
  const JsonValue model = root["model"];
  PipelineTokenizer::Pipeline pipeline;
  ADIT_ASSIGN_OR_RETURN(pipeline.normalizer, ParseNormalizer(root["normalizer"], where + ": normalizer"));
  ADIT_ASSIGN_OR_RETURN(CutterList cutters, ParsePreTokenizer(root["pre_tokenizer"], ModelReadsBytes(model, vocabulary),
                                                              where + ": pre_tokenizer"));
  ADIT_ASSIGN_OR_RETURN(pipeline.model, ParseModel(model, vocabulary, cutters.gives_bytes, where + ": model"));
  ADIT_ASSIGN_OR_RETURN(SpecialTokens special, ParseSpecialTokens(root, files, vocabulary.vocabulary, where));
  ADIT_ASSIGN_OR_RETURN(DecodeTable texts, ParseDecoder(root["decoder"], vocabulary.vocabulary, where + ": decoder"));
  Matchers matchers = MakeMatchers(vocabulary, pipeline.normalizer.get());
  pipeline.cutters = std::move(cutters.steps);
  pipeline.normalized_matcher = std::move(matchers.normalized);
  pipeline.normalized_trust = matchers.normalized_trust;
  pipeline.description = std::string(vocabulary.model_type).append(" (tokenizer.json)");
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(
      VocabularyTokenizer::Parts{std::move(vocabulary.vocabulary), std::move(special), std::move(texts),
                                 std::move(matchers.plain)},
      std::move(pipeline)));
}

Result<std::unique_ptr<Tokenizer>> LoadTokenizerJson(const std::string& path) {
  std::error_code error;
  const fs::path file = fs::is_directory(path, error) ? fs::path(path) / kFileName : fs::path(path);
  const fs::path folder = file.parent_path();
  ADIT_ASSIGN_OR_RETURN(const JsonDocument document, ReadJson(file));
  ADIT_ASSIGN_OR_RETURN(const std::optional<JsonDocument> config, ReadOptional(folder / "tokenizer_config.json"));
  ADIT_ASSIGN_OR_RETURN(const std::optional<JsonDocument> special, ReadOptional(folder / "special_tokens_map.json"));
  ADIT_ASSIGN_OR_RETURN(const std::optional<JsonDocument> generation, ReadOptional(folder / "generation_config.json"));
  const SideFiles files = {RootOf(config), RootOf(special), RootOf(generation)};
  return MakeTokenizerJson(document.root(), files, file.string());
}

}  // namespace adit::tokenizer
