#include "server/routes.h"

namespace adit::server {
namespace {

constexpr Route kRoutes[] = {
    // Generating.
    {"POST", "/v1/chat/completions", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, true, &ChatCompletions},
    {"POST", "/v1/completions", Scope::kInference, BodyLimit::kFull, CostClass::kGenerate, true, &Completions},
    // Texts and tokens.
    {"POST", "/v1/chat/completions/input_tokens", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true,
     &CountChatTokens},
    {"POST", "/tokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true, &TokenizeText},
    {"POST", "/v1/tokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true, &TokenizeText},
    {"POST", "/detokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true, &DetokenizeIds},
    {"POST", "/v1/detokenize", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true, &DetokenizeIds},
    {"POST", "/apply-template", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true, &ApplyTemplate},
    {"POST", "/v1/apply-template", Scope::kRead, BodyLimit::kFull, CostClass::kTokenize, true, &ApplyTemplate},
    // The model and the server.
    {"GET", "/v1/models", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &ListModels},
    {"GET", "/v1/models/{id}", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &ShowModel},
    {"GET", "/health/live", Scope::kPublic, BodyLimit::kNone, CostClass::kFree, false, &HealthLive},
    {"GET", "/health/ready", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &HealthReady},
    {"GET", "/health", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &HealthReady},
    {"GET", "/v1/health", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &HealthReady},
    {"GET", "/ping", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &HealthReady},
    {"GET", "/version", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &ShowVersion},
    {"GET", "/load", Scope::kRead, BodyLimit::kNone, CostClass::kFree, true, &ShowLoad},
    {"GET", "/metrics", Scope::kRead, BodyLimit::kNone, CostClass::kFree, false, &ShowMetrics},
    // Administration.
    {"GET", "/admin/requests", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, false, &ListRequests},
    {"DELETE", "/admin/requests/{id}", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, false, &CancelRequest},
    {"POST", "/admin/drain", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, false, &DrainServer},
    {"POST", "/admin/resume", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, false, &ResumeServer},
    {"GET", "/admin/routes", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, false, &ListRoutes},
    {"GET", "/admin/cache", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, true, &ShowCache},
    {"POST", "/admin/cache/flush", Scope::kAdmin, BodyLimit::kNone, CostClass::kFree, true, &FlushCache},
    // What clients of this interface know and this build does not have.
    {"POST", "/v1/responses", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
    {"POST", "/v1/messages", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
    {"POST", "/v1/embeddings", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
    {"POST", "/v1/rerank", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
    {"POST", "/v1/score", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
    {"POST", "/v1/moderations", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
    {"POST", "/infill", Scope::kInference, BodyLimit::kNone, CostClass::kFree, false, &NotSupported},
};

constexpr std::string_view kArgument = "{id}";

// Whether a path is of a pattern; what stands for {id} goes to `argument`.
bool Matches(std::string_view pattern, std::string_view path, std::string& argument) {
  const size_t mark = pattern.find(kArgument);
  if (mark == std::string_view::npos) return pattern == path;
  if (path.size() <= mark || path.substr(0, mark) != pattern.substr(0, mark)) return false;
  argument = std::string(path.substr(mark));
  return true;
}

}  // namespace

std::string_view CostClassName(CostClass cost) {
  switch (cost) {
    case CostClass::kFree:
      return "free";
    case CostClass::kTokenize:
      return "tokenize";
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
