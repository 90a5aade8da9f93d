#include "server/routes.h"

namespace adit::server {
namespace {

constexpr std::string_view kOllama = "ollama";

constexpr Route kRoutes[] = {
    // Generating.
    {"POST", "/v1/chat/completions", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator,
     &ChatCompletions},
    {"POST", "/v1/completions", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator,
     &Completions},
    {"POST", "/v1/messages", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator, &Messages},
    {"POST", "/v1/messages/count_tokens", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kGenerator,
     &CountMessageTokens},
    {"POST", "/v1/responses", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator,
     &CreateResponse},
    {"POST", "/v1/responses/input_tokens", Scope::kInference, BodyLimit::kFull, CostClass::kTokenize, Needs::kGenerator,
     &CountResponseTokens},
    {"POST", "/infill", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator, &Infill},
    // Responses that are kept.
    {"GET", "/v1/responses/{id}/input_items", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &ListInputItems},
    {"POST", "/v1/responses/{id}/cancel", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &CancelResponse},
    {"GET", "/v1/responses/{id}", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &ShowResponse},
    {"DELETE", "/v1/responses/{id}", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &DeleteResponse},
    // Files and batches.
    {"POST", "/v1/files", Scope::kInference, BodyLimit::kFull, CostClass::kFree, Needs::kNothing, &UploadFile},
    {"GET", "/v1/files", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ListFiles},
    {"GET", "/v1/files/{id}/content", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &ShowFileContent},
    {"GET", "/v1/files/{id}", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowFile},
    {"DELETE", "/v1/files/{id}", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &DeleteFile},
    {"POST", "/v1/batches", Scope::kInference, BodyLimit::kFull, CostClass::kFree, Needs::kNothing, &CreateBatch},
    {"GET", "/v1/batches", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ListBatches},
    {"POST", "/v1/batches/{id}/cancel", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &CancelBatch},
    {"GET", "/v1/batches/{id}", Scope::kInference, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowBatch},
    // Embeddings.
    {"POST", "/v1/embeddings", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Embeddings},
    {"POST", "/embeddings", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Embeddings},
    {"POST", "/v1/rerank", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Rerank},
    {"POST", "/rerank", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Rerank},
    {"POST", "/v2/rerank", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Rerank},
    {"POST", "/v1/score", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Score},
    {"POST", "/score", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Score},
    {"POST", "/v1/classify", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Classify},
    {"POST", "/classify", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Classify},
    {"POST", "/pooling", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &Pool},
    // Texts and tokens.
    {"POST", "/v1/chat/completions/input_tokens", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel,
     &CountChatTokens},
    {"POST", "/tokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel, &TokenizeText},
    {"POST", "/v1/tokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel, &TokenizeText},
    {"POST", "/detokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel, &DetokenizeIds},
    {"POST", "/v1/detokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel, &DetokenizeIds},
    {"GET", "/tokenizer_info", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kModel, &ShowTokenizer},
    {"POST", "/apply-template", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel, &ApplyTemplate},
    {"POST", "/v1/apply-template", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, Needs::kModel, &ApplyTemplate},
    // The model and the server.
    {"GET", "/v1/models", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ListModels},
    {"GET", "/v1/models/{id}", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowModel},
    {"GET", "/health/live", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &HealthLive},
    {"GET", "/health/ready", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &HealthReady},
    {"GET", "/health", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &HealthReady},
    {"GET", "/v1/health", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &HealthReady},
    {"GET", "/ping", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &HealthReady},
    {"GET", "/version", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowVersion},
    {"GET", "/openapi.json", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowOpenApi},
    {"GET", "/load", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowLoad},
    {"GET", "/metrics", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowMetrics},
    // Administration.
    {"GET", "/admin/requests", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ListRequests},
    {"DELETE", "/admin/requests/{id}", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing,
     &CancelRequest},
    {"POST", "/admin/drain", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &DrainServer},
    {"POST", "/admin/resume", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ResumeServer},
    {"GET", "/admin/routes", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ListRoutes},
    {"POST", "/admin/profile", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &ShowProfile},
    {"GET", "/admin/kernels", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowKernels},
    {"GET", "/admin/cache", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowCache},
    {"POST", "/admin/cache/warm", Scope::kAdmin, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator, &WarmCache},
    {"POST", "/admin/models/load", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &LoadModel},
    {"POST", "/admin/models/unload", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &UnloadModel},
    {"POST", "/admin/models/swap", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &SwapModel},
    {"POST", "/admin/models/pull", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &PullModel},
    {"POST", "/admin/models/pin", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &PinModel},
    {"GET", "/admin/models/events", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ModelEvents},
    {"DELETE", "/admin/models/{id}", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &RemoveModel},
    {"POST", "/admin/plan", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &PlanModel},
    {"POST", "/admin/cache/flush", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &FlushCache},
    // Ollama's.
    {"POST", "/api/chat", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator, &OllamaChat,
     kOllama},
    {"POST", "/api/generate", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, Needs::kGenerator,
     &OllamaGenerate, kOllama},
    {"POST", "/api/embed", Scope::kInference, BodyLimit::kFull, CostClass::kEmbed, Needs::kEmbedder, &OllamaEmbed,
     kOllama},
    {"POST", "/api/show", Scope::kRead, BodyLimit::kSmall, CostClass::kFree, Needs::kModel, &OllamaShow, kOllama},
    {"GET", "/api/tags", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &OllamaTags, kOllama},
    {"GET", "/api/ps", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &OllamaPs, kOllama},
    {"GET", "/api/version", Scope::kRead, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &OllamaVersion, kOllama},
    {"POST", "/api/pull", Scope::kAdmin, BodyLimit::kSmall, CostClass::kFree, Needs::kNothing, &OllamaPull, kOllama},
    {"GET", "/admin/tenants", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ListTenants},
    {"GET", "/admin/tenants/{id}", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowTenant},
    {"PUT", "/admin/tenants/{id}", Scope::kAdmin, BodyLimit::kFull, CostClass::kFree, Needs::kNothing, &ChangeTenant},
    // The web page.
    {"GET", "/", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/icon.svg", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/style.css", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/app.js", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/api.js", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/chat.js", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/dashboard.js", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/markdown.js", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    {"GET", "/ui/store.js", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, Needs::kNothing, &ShowUi},
    // Judging texts.
    {"POST", "/v1/moderations", Scope::kInference, BodyLimit::kFull, CostClass::kTokenize, Needs::kNothing,
     &Moderations},
};

constexpr std::string_view kArgument = "{id}";

// Whether a path is of a pattern; what stands for {id} goes to `argument`.
bool Matches(std::string_view pattern, std::string_view path, std::string& argument) {
  const size_t mark = pattern.find(kArgument);
  if (mark == std::string_view::npos) return pattern == path;
  const std::string_view end = pattern.substr(mark + kArgument.size());
  if (path.size() <= mark + end.size() || !path.starts_with(pattern.substr(0, mark)) || !path.ends_with(end))
    return false;
  argument = std::string(path.substr(mark, path.size() - mark - end.size()));
  return true;
}

}  // namespace

std::string_view CostClassName(CostClass cost) {
  switch (cost) {
    case CostClass::kFree:
      return "free";
    case CostClass::kTokenize:
      return "tokenize";
    case CostClass::kEmbed:
      return "embed";
    case CostClass::kGenerate:
      return "generate";
  }
  return "unknown";
}

std::span<const Route> Routes() { return kRoutes; }

RouteMatch FindRoute(std::string_view method, std::string_view path) {
  // A slash at the end says nothing, and HEAD is GET without the body.
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (method == "HEAD") method = "GET";
  RouteMatch match;
  for (const Route& route : kRoutes) {
    std::string argument;
    if (!Matches(route.path, path, argument)) continue;
    match.path_known = true;
    if (route.method == method) {
      match.route = &route;
      match.argument = std::move(argument);
      return match;
    }
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += route.method;
  }
  return match;
}

}  // namespace adit::server
