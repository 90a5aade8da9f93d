#include "server/ollama_request.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "server/json_fields.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kLatest = ":latest";

// Options of a request by their names there, and here.
constexpr FieldName kOptions[] = {{"temperature", "temperature"},
                                  {"top_k", "top_k"},
                                  {"top_p", "top_p"},
                                  {"min_p", "min_p"},
                                  {"typical_p", "typical_p"},
                                  {"seed", "seed"},
                                  {"stop", "stop"},
                                  {"repeat_penalty", "repeat_penalty"},
                                  {"repeat_last_n", "repeat_last_n"},
                                  {"presence_penalty", "presence_penalty"},
                                  {"frequency_penalty", "frequency_penalty"},
                                  {"mirostat", "mirostat"},
                                  {"mirostat_tau", "mirostat_tau"},
                                  {"mirostat_eta", "mirostat_eta"}};

class OllamaReader {
 public:
  explicit OllamaReader(const Json& body) : fields_(body) {
    result_.chat.body = std::make_shared<Json>(Json::object());
    Json& chat = *result_.chat.body;
    const std::string model = fields_.Text("model", 0, SIZE_MAX).value_or("");
    if (!model.empty()) chat["model"] = WithoutLatest(model);
    chat["stream"] = fields_.Flag("stream").value_or(true);
    ReadOptions();
    ReadFormat();
    ReadThink();
    // How long a model stays is the server's affair.
    if (fields_.Find("keep_alive") != nullptr) result_.chat.ignored.emplace_back("keep_alive");
  }

  std::variant<OllamaBody, ApiError> Chat() {
    Json& chat = *result_.chat.body;
    const Json* messages = fields_.Find("messages");
    result_.only_loads = messages == nullptr || (messages->is_array() && messages->empty());
    if (!result_.only_loads && !messages->is_array()) fields_.FailType("messages", *messages, "a list of messages");
    chat["messages"] = Json::array();
    for (size_t i = 0; !result_.only_loads && !fields_.error() && i < messages->size(); ++i) {
      chat["messages"].push_back(Message((*messages)[i], fmt::format("messages[{}]", i)));
    }
    PassField(fields_, "tools", chat, "tools");
    // An empty list is how clients say that there are none.
    if (chat.contains("tools") && chat["tools"].is_array() && chat["tools"].empty()) chat.erase("tools");
    return Finish();
  }

  std::variant<OllamaBody, ApiError> Generate() {
    Json& chat = *result_.chat.body;
    const std::string prompt = fields_.Text("prompt", 0, SIZE_MAX).value_or("");
    const std::string system = fields_.Text("system", 0, SIZE_MAX).value_or("");
    const std::string suffix = fields_.Text("suffix", 0, SIZE_MAX).value_or("");
    const bool raw = fields_.Flag("raw").value_or(false);
    RefuseImages(fields_, "images");
    for (const char* key : {"template", "context"}) {
      const Json* value = fields_.Find(key);
      if (value == nullptr || value->empty()) continue;
      fields_.Fail("unsupported_parameter", key, fmt::format("'{}' is not supported", key));
    }
    result_.only_loads = prompt.empty() && suffix.empty();
    if (raw || !suffix.empty()) {
      result_.kind = ApiKind::kCompletion;
      chat["prompt"] = prompt;
      if (!suffix.empty()) chat["suffix"] = suffix;
      // There the default is 16, here as many as there is room for.
      if (!chat.contains("max_tokens")) chat["n_predict"] = -1;
    } else {
      chat["messages"] = Json::array();
      if (!system.empty()) chat["messages"].push_back({{"role", "system"}, {"content", system}});
      chat["messages"].push_back({{"role", "user"}, {"content", prompt}});
    }
    return Finish();
  }

 private:
  std::variant<OllamaBody, ApiError> Finish() {
    if (fields_.error()) return *fields_.error();
    for (std::string& name : fields_.Unknown()) result_.chat.ignored.push_back(std::move(name));
    return std::move(result_);
  }

  void ReadOptions() {
    const Json* options = fields_.Find("options");
    if (options == nullptr) return;
    if (!options->is_object()) return fields_.FailType("options", *options, "an object");
    FieldReader reader(*options);
    Json& chat = *result_.chat.body;
    for (const FieldName& option : kOptions) PassField(reader, option.own.data(), chat, option.chat.data());
    // Below 0: as many as there is room for.
    const std::optional<int64_t> most = reader.Whole("num_predict", -2, INT64_MAX);
    if (most && *most >= 0) chat["max_tokens"] = *most;
    if (reader.error()) return fields_.Fail(reader.error()->code, "options.num_predict", reader.error()->message);
    for (const std::string& name : reader.Unknown()) result_.chat.ignored.push_back("options." + name);
  }

  void ReadFormat() {
    const Json* format = fields_.Find("format");
    if (format == nullptr || *format == "") return;
    Json& chat = *result_.chat.body;
    if (*format == "json") {
      chat["response_format"] = {{"type", "json_object"}};
    } else if (format->is_object()) {
      chat["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"name", "format"}, {"schema", *format}}}};
    } else {
      fields_.FailType("format", *format, "\"json\" or a schema");
    }
  }

  void ReadThink() {
    const Json* think = fields_.Find("think");
    if (think == nullptr) return;
    Json& chat = *result_.chat.body;
    if (think->is_boolean()) {
      chat["include_reasoning"] = *think;
      if (*think == false) chat["reasoning_effort"] = "none";
    } else if (*think == "low" || *think == "medium" || *think == "high") {
      chat["reasoning_effort"] = *think;
    } else {
      fields_.Fail("invalid_value", "think", "'think' is true, false, \"low\", \"medium\" or \"high\"");
    }
  }

  void RefuseImages(FieldReader& reader, const std::string& param) {
    const Json* images = reader.Find("images");
    if (images == nullptr || images->empty()) return;
    fields_.Fail("unsupported_parameter", param, fmt::format("'{}' is not supported: the model sees no images", param));
  }

  Json Message(const Json& message, const std::string& param) {
    if (!message.is_object()) {
      fields_.FailType(param, message, "an object");
      return {};
    }
    FieldReader reader(message);
    RefuseImages(reader, param + ".images");
    Json out = {{"role", reader.Text("role", 1, 64).value_or("")},
                {"content", reader.Text("content", 0, SIZE_MAX).value_or("")}};
    if (const auto thinking = reader.Text("thinking", 0, SIZE_MAX); thinking && !thinking->empty()) {
      out["reasoning_content"] = *thinking;
    }
    if (const auto name = reader.Text("tool_name", 0, SIZE_MAX); name && !name->empty()) out["name"] = *name;
    if (const Json* calls = reader.Find("tool_calls"); calls != nullptr && !calls->empty()) {
      out["tool_calls"] = Calls(*calls, param + ".tool_calls");
    }
    if (reader.error()) {
      fields_.Fail(reader.error()->code, param + "." + reader.error()->param, reader.error()->message);
    }
    return out;
  }

  // Calls of an earlier answer: arguments are objects there, and texts here; and they have no names there.
  Json Calls(const Json& calls, const std::string& param) {
    if (!calls.is_array()) {
      fields_.FailType(param, calls, "a list");
      return {};
    }
    Json list = Json::array();
    for (size_t i = 0; i < calls.size(); ++i) {
      const Json* function = nullptr;
      if (calls[i].is_object() && calls[i].contains("function")) function = &calls[i]["function"];
      if (function == nullptr || !function->is_object() || !function->contains("name")) {
        fields_.Fail("invalid_type", fmt::format("{}[{}]", param, i),
                     fmt::format("'{}[{}]' is no call: {{\"function\": {{\"name\", \"arguments\"}}}}", param, i));
        return {};
      }
      const Json arguments = function->value("arguments", Json::object());
      list.push_back({{"id", fmt::format("call_{}", i)},
                      {"type", "function"},
                      {"function",
                       {{"name", (*function)["name"]},
                        {"arguments", arguments.is_string() ? arguments : Json(arguments.dump())}}}});
    }
    return list;
  }

  FieldReader fields_;
  OllamaBody result_;
};

}  // namespace

std::string_view WithoutLatest(std::string_view name) {
  if (name.size() > kLatest.size() && name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  return name;
}

std::variant<OllamaBody, ApiError> ChatOfOllama(const Json& body) { return OllamaReader(body).Chat(); }
std::variant<OllamaBody, ApiError> GenerateOfOllama(const Json& body) { return OllamaReader(body).Generate(); }

std::variant<EmbeddingsRequest, ApiError> ReadOllamaEmbed(const Json& body, const EmbeddingModel& model) {
  FieldReader fields(body);
  Json wanted = Json::object();
  PassField(fields, "model", wanted, "model");
  if (wanted.contains("model") && wanted["model"].is_string()) {
    wanted["model"] = WithoutLatest(wanted["model"].get_ref<const std::string&>());
  }
  PassField(fields, "input", wanted, "input");
  PassField(fields, "dimensions", wanted, "dimensions");
  if (fields.Flag("truncate").value_or(true)) wanted["truncate_prompt_tokens"] = -1;
  if (fields.error()) return *fields.error();
  return ReadEmbeddings(wanted, model);
}

void RenameForOllama(ApiError& error) {
  if (error.param.starts_with("response_format")) error.param.replace(0, 15, "format");
}

}  // namespace adit::server
