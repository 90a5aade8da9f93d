#include "server/openapi.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/api_keys.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What a body must have, and of what type its best-known fields are. Others are as docs/server.md says.
struct BodySchema {
  std::string_view path;
  const char* schema;
};

constexpr const char* kChat =
    R"({"required": ["messages"], "properties": {"messages": {"$ref": "#/components/schemas/Messages"}}})";
constexpr const char* kInput =
    R"({"required": ["input"], "properties": {"model": {"type": "string"}, "input": {"type": ["string", "array"]}}})";
constexpr const char* kModelName =
    R"({"required": ["model"], "properties": {"model": {"type": "string", "minLength": 1, "maxLength": 512}}})";
constexpr const char* kOllamaError =
    R"({"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}})";
constexpr const char* kMessages = R"({"type": "array", "minItems": 1, "items": {"type": "object",
    "required": ["role", "content"], "properties": {"role": {"enum": ["user", "assistant"]},
    "content": {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "object",
        "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": {"type": "string"}}}}]}}}})";

constexpr BodySchema kBodies[] = {
    {"/v1/chat/completions", R"({"required": ["messages"], "properties": {"model": {"type": "string"},
        "messages": {"$ref": "#/components/schemas/Messages"},
        "max_tokens": {"type": ["integer", "null"], "minimum": 0}, "temperature": {"type": ["number", "null"],
        "minimum": 0, "maximum": 2}, "stream": {"type": ["boolean", "null"]}}})"},
    {"/v1/completions", R"({"required": ["prompt"], "properties": {"model": {"type": "string"},
        "prompt": {"type": ["string", "array"]}, "max_tokens": {"type": ["integer", "null"], "minimum": 0},
        "suffix": {"type": ["string", "null"]}, "stream": {"type": ["boolean", "null"]}}})"},
    {"/v1/responses", R"({"required": ["input"], "properties": {"model": {"type": "string"},
        "input": {"type": ["string", "array"]}, "instructions": {"type": ["string", "null"]},
        "max_output_tokens": {"type": ["integer", "null"], "minimum": 0},
        "previous_response_id": {"type": ["string", "null"]}, "store": {"type": ["boolean", "null"]},
        "stream": {"type": ["boolean", "null"]}}})"},
    {"/v1/responses/input_tokens", R"({"properties": {"input": {"type": ["string", "array"]}}})"},
    {"/v1/messages", R"({"required": ["max_tokens", "messages"], "properties": {"model": {"type": "string"},
        "max_tokens": {"type": "integer", "minimum": 1}, "system": {"type": ["string", "array"]},
        "messages": {"$ref": "#/components/schemas/Messages"},
        "stream": {"type": ["boolean", "null"]}}})"},
    {"/v1/messages/count_tokens", kChat},
    {"/v1/embeddings", R"({"required": ["input"], "properties": {"model": {"type": "string"},
        "input": {"type": ["string", "array"]}, "encoding_format": {"enum": ["float", "base64"]},
        "dimensions": {"type": "integer", "minimum": 1}}})"},
    {"/v1/rerank", R"({"required": ["query", "documents"], "properties": {"query": {"type": "string"},
        "documents": {"type": "array", "minItems": 1}, "top_n": {"type": "integer", "minimum": 1}}})"},
    {"/v1/score", R"({"required": ["text_1", "text_2"], "properties": {"text_1": {"type": ["string", "array"]},
        "text_2": {"type": ["string", "array"]}}})"},
    {"/v1/classify", kInput},
    {"/pooling", kInput},
    {"/v1/chat/completions/input_tokens", kChat},
    {"/v1/tokenize", R"({"properties": {"prompt": {"type": "string"}, "messages": {"type": "array"}}})"},
    {"/v1/detokenize", R"({"required": ["tokens"], "properties": {"tokens": {"type": "array",
        "items": {"type": "integer", "minimum": 0}}}})"},
    {"/v1/apply-template", kChat},
    {"/admin/models/load", kModelName},
    {"/admin/models/unload", kModelName},
    {"/admin/models/pull", kModelName},
    {"/admin/models/pin", kModelName},
    {"/admin/plan", kModelName},
    {"/admin/models/swap", R"({"required": ["model", "source"], "properties": {"model": {"type": "string",
        "minLength": 1, "maxLength": 512}, "source": {"type": "string", "minLength": 1, "maxLength": 512}}})"},
    {"/api/chat", R"({"required": ["model"], "properties": {"model": {"type": "string"},
        "messages": {"type": "array"}, "stream": {"type": ["boolean", "null"]}}})"},
    {"/api/generate", R"({"required": ["model"], "properties": {"model": {"type": "string"},
        "prompt": {"type": "string"}, "stream": {"type": ["boolean", "null"]}}})"},
    {"/api/embed", R"({"required": ["model", "input"], "properties": {"model": {"type": "string"},
        "input": {"type": ["string", "array"]}}})"},
    {"/api/show", kModelName},
    {"/api/pull", kModelName},
    {"/v1/files", R"({"required": ["file", "purpose"], "properties": {"file": {"type": "string"},
        "purpose": {"enum": ["batch"]}}})"},
    {"/v1/batches", R"({"required": ["input_file_id", "endpoint", "completion_window"], "properties": {
        "input_file_id": {"type": "string", "minLength": 1}, "completion_window": {"enum": ["24h"]},
        "endpoint": {"enum": ["/v1/chat/completions", "/v1/completions"]}}})"},
    {"/infill", R"({"required": ["input_prefix", "input_suffix"], "properties": {"input_prefix": {"type": "string"},
        "input_suffix": {"type": "string"}, "input_extra": {"type": "array"}, "prompt": {"type": "string"}}})"},
};

// Routes may have a second name; what their bodies are is told once.
OrderedJson BodyOf(std::string_view path) {
  for (const BodySchema& body : kBodies) {
    const std::string_view last = body.path.substr(body.path.find('/', 1) == std::string_view::npos ? 0 : 3);
    if (path != body.path && path != last && !(path.starts_with("/v2") && path.substr(3) == last)) continue;
    OrderedJson schema = OrderedJson::parse(body.schema);
    schema["type"] = "object";
    return schema;
  }
  return {{"type", "object"}};
}

OrderedJson ErrorSchema() {
  const OrderedJson text = {{"type", "string"}};
  const OrderedJson text_or_null = {{"type", {"string", "null"}}};
  return {{"type", "object"},
          {"required", {"error"}},
          {"properties",
           {{"error",
             {{"type", "object"},
              {"required", {"message", "type"}},
              {"properties", {{"message", text}, {"type", text}, {"param", text_or_null}, {"code", text_or_null}}}}}}}};
}

OrderedJson Content(const char* type, OrderedJson schema) { return {{type, {{"schema", std::move(schema)}}}}; }

// Of answers that are no JSON; null: they are.
const char* TypeOfText(const Route& route) {
  if (route.path == "/metrics") return "text/plain";
  if (route.endpoint != &ShowUi) return nullptr;
  if (route.path.ends_with(".js")) return "text/javascript";
  if (route.path.ends_with(".css")) return "text/css";
  return route.path.ends_with(".svg") ? "image/svg+xml" : "text/html";
}

OrderedJson Answers(const Route& route) {
  OrderedJson good = Content("application/json", {{"type", "object"}});
  if (route.path.ends_with("/content")) good = Content("application/octet-stream", {{"type", "string"}});
  if (const char* type = TypeOfText(route); type != nullptr) good = Content(type, {{"type", "string"}});
  const bool is_ollama = !route.compat.empty();
  if (is_ollama) {
    good["application/x-ndjson"] = {{"schema", {{"type", "string"}}}};
  } else if (route.cost == CostClass::kGenerate || route.path == "/admin/models/events") {
    good["text/event-stream"] = {{"schema", {{"type", "string"}}}};
  }
  const char* error = is_ollama ? "#/components/schemas/OllamaError" : "#/components/schemas/Error";
  OrderedJson answers = {
      {"200", {{"description", "The answer"}, {"content", std::move(good)}}},
      {"default", {{"description", "What is wrong"}, {"content", Content("application/json", {{"$ref", error}})}}}};
  if (route.path.starts_with("/admin/models/")) {
    answers["202"] = {{"description", "It has begun"}, {"content", Content("application/json", {{"type", "object"}})}};
  }
  return answers;
}

OrderedJson Operation(const Route& route) {
  std::string id(route.method);
  for (const char c : route.path) id += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
  OrderedJson operation = {{"operationId", id},
                           {"tags", {CostClassName(route.cost)}},
                           {"description", fmt::format("Scope of the key: {}", ScopeName(route.scope))}};
  operation["security"] = OrderedJson::array();
  if (route.scope != Scope::kPublic)
    operation["security"] = OrderedJson::array({{{"bearer", OrderedJson::array()}}, OrderedJson::object()});
  if (route.path.find("{id}") != std::string_view::npos) {
    operation["parameters"] = OrderedJson::array(
        {{{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}, {"minLength", 1}}}}});
  }
  if (route.body != BodyLimit::kNone) {
    const char* type = route.path == "/v1/files" ? "multipart/form-data" : "application/json";
    operation["requestBody"] = {{"required", true}, {"content", Content(type, BodyOf(route.path))}};
  }
  operation["responses"] = Answers(route);
  return operation;
}

}  // namespace

std::string OpenApiText(std::span<const Route> routes, std::string_view version) {
  OrderedJson paths = OrderedJson::object();
  for (const Route& route : routes) {
    std::string method(route.method);
    std::transform(method.begin(), method.end(), method.begin(), [](char c) { return static_cast<char>(c | 0x20); });
    paths[std::string(route.path)][method] = Operation(route);
  }
  OrderedJson document = {{"openapi", "3.1.0"},
                          {"info", {{"title", "adit"}, {"version", version}}},
                          {"components",
                           {{"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}},
                            {"schemas",
                             {{"Error", ErrorSchema()},
                              {"OllamaError", OrderedJson::parse(kOllamaError)},
                              {"Messages", OrderedJson::parse(kMessages)}}}}}};
  document["paths"] = std::move(paths);
  return document.dump();
}

}  // namespace adit::server
