#include "server/embedding_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "server/json_fields.h"
#include "server/sampling_fields.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTexts = 2048;

// Reads what all have in common, and turns texts into tokens.
class TextReader {
 public:
  TextReader(const Json& body, const EmbeddingModel& model) : fields_(body), model_(model) {
    wish_.model = fields_.Text("model", 0, SIZE_MAX).value_or(model.api.name);
    wish_.request.form = {.pooling = model.pooling, .normalize = true};
    wish_.request.priority = static_cast<int32_t>(fields_.Whole("priority", -1000, 1000).value_or(0));
    add_special_ = fields_.Flag("add_special_tokens").value_or(true);
    const std::optional<int64_t> most = fields_.Whole("truncate_prompt_tokens", -1, kMaxInt64);
    if (most && *most == 0) {
      fields_.Fail("invalid_value", "truncate_prompt_tokens", "'truncate_prompt_tokens' is 0; it is -1 or at least 1");
    }
    const int64_t context = model.api.max_context;
    if (most) cut_to_ = *most == -1 ? context : std::min(*most, context);
    const std::string side = fields_.Text("truncation_side", 1, 16).value_or("right");
    if (side != "right") {
      fields_.Fail("unsupported_parameter", "truncation_side",
                   "'truncation_side' is not supported here; only \"right\" is taken");
    }
  }

  FieldReader& fields() { return fields_; }
  engine::EmbeddingForm& form() { return wish_.request.form; }
  size_t num_texts() const { return wish_.request.texts.size(); }

  void AddText(const Json& text, const std::string& param, std::optional<int64_t> cut_to = std::nullopt) {
    std::vector<int32_t> tokens = TextTokens(text, param);
    if (!fields_.error()) AddTokens(std::move(tokens), param, cut_to);
  }

  // The two as one, the second without the mark that texts begin with. The second is cut where the pair is to be.
  void AddPair(const Json& first, const std::string& first_param, const Json& second, const std::string& param,
               std::optional<int64_t> cut_to = std::nullopt) {
    std::vector<int32_t> tokens = TextTokens(first, first_param);
    if (fields_.error()) return;
    const auto second_text = static_cast<int64_t>(tokens.size());
    std::vector<int32_t> rest = TextTokens(second, param);
    if (fields_.error()) return;
    if (add_special_ && model_.api.tokenizer.adds_bos()) rest.erase(rest.begin());
    if (cut_to_ && *cut_to_ <= second_text) {
      return fields_.Fail("context_length_exceeded", first_param,
                          fmt::format("'{}' has {} tokens, which leaves the second text none of {}", first_param,
                                      second_text, *cut_to_));
    }
    if (cut_to_) cut_to = std::min(cut_to.value_or(kMaxInt64), *cut_to_ - second_text);
    if (cut_to) Cut(*cut_to, rest);
    tokens.insert(tokens.end(), rest.begin(), rest.end());
    wish_.request.second_texts.push_back(second_text);
    AddTokens(std::move(tokens), param, std::nullopt);
  }

  void AddIds(const Json& ids, const std::string& param) {
    std::vector<int32_t> tokens;
    ReadTokenIds(fields_, ids, param, model_.api.vocab_size, tokens);
    if (!fields_.error()) AddTokens(std::move(tokens), param, std::nullopt);
  }

  // The texts of a field that is one or a list of them.
  void AddTexts(const Json& value, const std::string& param) {
    if (value.is_string()) return AddText(value, param);
    if (!CheckList(value, param, "a string or a list of strings")) return;
    for (size_t i = 0; i < value.size() && !fields_.error(); ++i) AddText(value[i], fmt::format("{}[{}]", param, i));
  }

  bool CheckList(const Json& value, const std::string& param, std::string_view wanted) {
    if (!value.is_array()) {
      fields_.FailType(param, value, wanted);
    } else if (value.empty()) {
      fields_.Fail("invalid_value", param, fmt::format("'{}' is empty; at least one is wanted", param));
    } else if (value.size() > kMaxTexts && !value[0].is_number()) {
      fields_.Fail("invalid_value", param,
                   fmt::format("'{}' has {} entries; it has at most {}", param, value.size(), kMaxTexts));
    }
    return !fields_.error();
  }

  // The first of the fields that is there; all are known then.
  const Json* First(std::initializer_list<const char*> keys, const char*& name) {
    const Json* found = nullptr;
    name = *keys.begin();
    for (const char* key : keys) {
      const Json* value = fields_.Find(key);
      if (value == nullptr || found != nullptr) continue;
      found = value;
      name = key;
    }
    if (found == nullptr) {
      fields_.Fail("missing_required_parameter", name, fmt::format("'{}' is missing", name));
    }
    return found;
  }

  std::optional<ApiError> error() const { return fields_.error(); }
  EmbeddingWish Take() {
    wish_.ignored = fields_.Unknown();
    return std::move(wish_);
  }

 private:
  // Not to be used after an error.
  std::vector<int32_t> TextTokens(const Json& text, const std::string& param) {
    if (!text.is_string()) {
      fields_.FailType(param, text, "a string");
      return {};
    }
    const auto& bytes = text.get_ref<const std::string&>();
    if (bytes.empty()) fields_.Fail("invalid_value", param, fmt::format("'{}' is empty", param));
    std::vector<int32_t> tokens = model_.api.tokenizer.Encode(bytes, /*parse_special=*/false, add_special_);
    if (tokens.empty()) fields_.Fail("invalid_value", param, fmt::format("'{}' has no tokens", param));
    return tokens;
  }

  // What the model expects at the end of a text stays.
  void Cut(int64_t most, std::vector<int32_t>& tokens) const {
    if (static_cast<int64_t>(tokens.size()) <= most) return;
    const int32_t last = tokens.back();
    tokens.resize(static_cast<size_t>(most));
    if (add_special_ && model_.api.tokenizer.adds_eos() && most > 1) tokens.back() = last;
  }

  void AddTokens(std::vector<int32_t> tokens, const std::string& param, std::optional<int64_t> cut_to) {
    if (tokens.empty()) return fields_.Fail("invalid_value", param, fmt::format("'{}' has no tokens", param));
    const int64_t most = std::min(cut_to.value_or(kMaxInt64), cut_to_.value_or(kMaxInt64));
    const int64_t context = model_.api.max_context;
    const auto size = static_cast<int64_t>(tokens.size());
    if (size > most) {
      Cut(most, tokens);
    } else if (size > context) {
      return fields_.Fail("context_length_exceeded", param,
                          fmt::format("This model's maximum context length is {} tokens. However, '{}' has {} tokens; "
                                      "'truncate_prompt_tokens' cuts it.",
                                      context, param, size));
    }
    wish_.num_tokens += static_cast<int64_t>(tokens.size());
    wish_.request.texts.push_back(std::move(tokens));
  }

  FieldReader fields_;
  const EmbeddingModel& model_;
  EmbeddingWish wish_;
  bool add_special_ = true;
  std::optional<int64_t> cut_to_;
};

void ReadInput(TextReader& reader) {
  const Json* input = reader.fields().Find("input");
  if (input == nullptr) {
    return reader.fields().Fail("missing_required_parameter", "input", "'input' is missing");
  }
  if (input->is_string()) return reader.AddText(*input, "input");
  if (!reader.CheckList(*input, "input", "a string, a list of strings, or token ids")) return;
  if ((*input)[0].is_number()) return reader.AddIds(*input, "input");
  for (size_t i = 0; i < input->size() && !reader.error(); ++i) {
    const Json& one = (*input)[i];
    const std::string param = fmt::format("input[{}]", i);
    if (one.is_array()) {
      reader.AddIds(one, param);
    } else {
      reader.AddText(one, param);
    }
  }
}

// Pairs are judged by a classifier that knows one label: how well the second text answers the first.
bool TakesPairs(TextReader& reader, const EmbeddingModel& model) {
  if (!model.is_classifier()) return false;
  reader.form().pooling = engine::Pooling::kRank;
  if (model.labels.size() == 1) return true;
  reader.fields().Fail("invalid_value", "model",
                       fmt::format("'{}' is a classifier of {} labels; pairs are scored by one with a single label",
                                   model.api.name, model.labels.size()));
  return false;
}

// One of a list, or a text for itself, and how it is called.
std::pair<const Json*, std::string> EntryOf(const Json& texts, const std::string& name, size_t index) {
  if (!texts.is_array()) return {&texts, name};
  return {&texts[index], fmt::format("{}[{}]", name, index)};
}

size_t NumTexts(const Json& texts) { return texts.is_array() ? texts.size() : 1; }

void ReadForm(TextReader& reader, const EmbeddingModel& model, bool base64) {
  FieldReader& fields = reader.fields();
  const std::optional<int64_t> dimensions = fields.Whole("dimensions", 1, kMaxInt64);
  if (dimensions && *dimensions != model.dim) {
    fields.Fail("unsupported_parameter", "dimensions",
                fmt::format("'dimensions' is {}; the embeddings of this model have {} and are not made to be cut",
                            *dimensions, model.dim));
  }
  reader.form().normalize = fields.Flag("normalize").value_or(true);
  if (const std::optional<std::string> pooling = fields.Text("pooling", 1, 16); pooling) {
    const Result<engine::Pooling> parsed = engine::ParsePooling(*pooling);
    if (!parsed.ok() || *parsed == engine::Pooling::kRank) {
      return fields.Fail("invalid_value", "pooling",
                         fmt::format("'pooling' is \"{}\"; it is none, mean, cls or last", *pooling));
    }
    reader.form().pooling = *parsed;
  }
  if (base64 && reader.form().pooling == engine::Pooling::kNone) {
    fields.Fail("invalid_value", "encoding_format",
                "'encoding_format' base64 is for one embedding of a text; 'pooling' none gives one for each token");
  }
}

}  // namespace

std::variant<EmbeddingsRequest, ApiError> ReadEmbeddings(const Json& body, const EmbeddingModel& model) {
  TextReader reader(body, model);
  EmbeddingsRequest request;
  const std::string format = reader.fields().Text("encoding_format", 1, 16).value_or("float");
  request.base64 = format == "base64";
  if (!request.base64 && format != "float") {
    reader.fields().Fail("invalid_value", "encoding_format",
                         fmt::format("'encoding_format' is \"{}\"; it is float or base64", format));
  }
  ReadForm(reader, model, request.base64);
  if (!reader.error()) ReadInput(reader);
  if (reader.error()) return *reader.error();
  request.wish = reader.Take();
  return request;
}

std::variant<RerankRequest, ApiError> ReadRerank(const Json& body, const EmbeddingModel& model) {
  TextReader reader(body, model);
  RerankRequest request;
  FieldReader& fields = reader.fields();
  const std::optional<int64_t> top_n = fields.Whole("top_n", 1, kMaxInt64);
  const bool told = fields.Flag("return_documents").value_or(false);
  const std::optional<int64_t> cut_to = fields.Whole("max_tokens_per_doc", 1, kMaxInt64);
  const char* name = nullptr;
  const Json* query = reader.First({"query"}, name);
  request.pairs = TakesPairs(reader, model);
  if (query != nullptr && !request.pairs) reader.AddText(*query, "query");
  const Json* documents = reader.First({"documents"}, name);
  if (reader.error()) return *reader.error();
  if (!reader.CheckList(*documents, "documents", "a list of strings")) return *reader.error();
  for (size_t i = 0; i < documents->size() && !reader.error(); ++i) {
    const std::string param = fmt::format("documents[{}]", i);
    const Json* text = &(*documents)[i];
    // Cohere's clients may send objects.
    if (text->is_object() && text->contains("text")) text = &(*text)["text"];
    if (request.pairs) {
      reader.AddPair(*query, "query", *text, param, cut_to);
    } else {
      reader.AddText(*text, param, cut_to);
    }
    if (told && !reader.error()) request.documents.push_back(text->get<std::string>());
  }
  if (reader.error()) return *reader.error();
  const auto num_documents = static_cast<int64_t>(documents->size());
  request.top_n = static_cast<size_t>(std::min(top_n.value_or(num_documents), num_documents));
  request.wish = reader.Take();
  return request;
}

std::variant<ScoreRequest, ApiError> ReadScore(const Json& body, const EmbeddingModel& model) {
  TextReader reader(body, model);
  ScoreRequest request;
  const char* left_name = nullptr;
  const char* right_name = nullptr;
  const Json* left = reader.First({"text_1", "queries"}, left_name);
  const Json* right = reader.First({"text_2", "items", "documents"}, right_name);
  if (reader.error()) return *reader.error();
  request.pairs = TakesPairs(reader, model);
  for (const auto& [texts, text_name] : {std::pair(left, left_name), std::pair(right, right_name)}) {
    if (reader.error() || texts->is_string()) continue;
    reader.CheckList(*texts, text_name, "a string or a list of strings");
  }
  if (reader.error()) return *reader.error();
  request.num_left = NumTexts(*left);
  const size_t num_right = NumTexts(*right);
  if (request.num_left != 1 && request.num_left != num_right) {
    reader.fields().Fail("invalid_value", left_name,
                         fmt::format("'{}' has {} texts and '{}' {}; the first has one, or both have as many",
                                     left_name, request.num_left, right_name, num_right));
  } else if (request.pairs) {
    for (size_t i = 0; i < num_right && !reader.error(); ++i) {
      const auto [first, first_name] = EntryOf(*left, left_name, request.num_left == 1 ? 0 : i);
      const auto [second, second_name] = EntryOf(*right, right_name, i);
      reader.AddPair(*first, first_name, *second, second_name);
    }
  } else {
    reader.AddTexts(*left, left_name);
    if (!reader.error()) reader.AddTexts(*right, right_name);
  }
  if (reader.error()) return *reader.error();
  request.wish = reader.Take();
  return request;
}

std::variant<ClassifyRequest, ApiError> ReadPooling(const Json& body, const EmbeddingModel& model) {
  TextReader reader(body, model);
  if (model.is_classifier()) reader.form().pooling = engine::Pooling::kRank;
  ReadInput(reader);
  if (reader.error()) return *reader.error();
  return ClassifyRequest{reader.Take()};
}

std::variant<ClassifyRequest, ApiError> ReadClassify(const Json& body, const EmbeddingModel& model) {
  if (model.is_classifier()) return ReadPooling(body, model);
  TextReader reader(body, model);
  reader.fields().Fail("invalid_value", "model",
                       fmt::format("'{}' is no classifier; /pooling gives the embeddings of texts", model.api.name));
  return *reader.error();
}

}  // namespace adit::server
