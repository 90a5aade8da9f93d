#ifndef ADIT_SERVER_ROUTES_H_
#define ADIT_SERVER_ROUTES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "server/api_keys.h"
#include "server/http_message.h"
#include "server/request_record.h"

namespace adit::server {

class Service;
class ServedModel;

// What a request of a route may cost.
enum class CostClass : uint8_t {
  kFree,      // a look at what is known
  kTokenize,  // work that grows with the body, on the server's own threads
  kEmbed,     // passes of the model
  kGenerate,  // steps of the engine
};
std::string_view CostClassName(CostClass cost);

// What a route cannot do without: 503 while it is loading, 400 when the model is of the other kind.
enum class Needs : uint8_t {
  kNothing,
  kModel,
  kGenerator,  // a model that generates texts
  kEmbedder,   // a model that makes embeddings
};

enum class BodyLimit : uint8_t {
  kNone,   // a body is read, if it is small, and passed over
  kSmall,  // some KiB
  kFull,   // --max-body-mb
};

// A request on its way to its endpoint.
struct Call {
  Service& service;
  HttpRequest request;
  std::string argument;  // what stands for {id} in the path
  KeyHolder holder;
  std::shared_ptr<RequestRecord> record;
  std::function<void()> wake;
  std::shared_ptr<const ServedModel> model;  // that it is answered with; null where the route needs none
};

using Endpoint = std::unique_ptr<Reply> (*)(Call& call);

struct Route {
  std::string_view method;
  std::string_view path;  // "{id}" stands for anything but nothing, slashes included
  Scope scope = Scope::kAdmin;
  BodyLimit body = BodyLimit::kNone;
  CostClass cost = CostClass::kFree;
  Needs needs = Needs::kNothing;
  Endpoint endpoint = nullptr;
  std::string_view compat = {};  // the flag --compat has to name it; empty: it is always there
};

// All there are.
std::span<const Route> Routes();

struct RouteMatch {
  const Route* route = nullptr;  // null: no such path, or not with this method
  bool path_known = false;
  std::string allowed;   // methods of the path, for the header Allow
  std::string argument;  // what stands for {id}
};
RouteMatch FindRoute(std::string_view method, std::string_view path);

// Where endpoints are.
std::unique_ptr<Reply> ChatCompletions(Call& call);
std::unique_ptr<Reply> Completions(Call& call);
std::unique_ptr<Reply> Messages(Call& call);
std::unique_ptr<Reply> CountMessageTokens(Call& call);
std::unique_ptr<Reply> CreateResponse(Call& call);
std::unique_ptr<Reply> CountResponseTokens(Call& call);
std::unique_ptr<Reply> ShowResponse(Call& call);
std::unique_ptr<Reply> DeleteResponse(Call& call);
std::unique_ptr<Reply> CancelResponse(Call& call);
std::unique_ptr<Reply> ListInputItems(Call& call);
std::unique_ptr<Reply> UploadFile(Call& call);
std::unique_ptr<Reply> ListFiles(Call& call);
std::unique_ptr<Reply> ShowFile(Call& call);
std::unique_ptr<Reply> ShowFileContent(Call& call);
std::unique_ptr<Reply> DeleteFile(Call& call);
std::unique_ptr<Reply> CreateBatch(Call& call);
std::unique_ptr<Reply> ListBatches(Call& call);
std::unique_ptr<Reply> ShowBatch(Call& call);
std::unique_ptr<Reply> CancelBatch(Call& call);
std::unique_ptr<Reply> Embeddings(Call& call);
std::unique_ptr<Reply> Rerank(Call& call);
std::unique_ptr<Reply> Classify(Call& call);
std::unique_ptr<Reply> Pool(Call& call);
std::unique_ptr<Reply> Score(Call& call);
std::unique_ptr<Reply> CountChatTokens(Call& call);
std::unique_ptr<Reply> TokenizeText(Call& call);
std::unique_ptr<Reply> DetokenizeIds(Call& call);
std::unique_ptr<Reply> ShowTokenizer(Call& call);
std::unique_ptr<Reply> ApplyTemplate(Call& call);
std::unique_ptr<Reply> ListModels(Call& call);
std::unique_ptr<Reply> ShowModel(Call& call);
std::unique_ptr<Reply> HealthLive(Call& call);
std::unique_ptr<Reply> HealthReady(Call& call);
std::unique_ptr<Reply> ShowVersion(Call& call);
std::unique_ptr<Reply> ShowLoad(Call& call);
std::unique_ptr<Reply> ShowMetrics(Call& call);
std::unique_ptr<Reply> ListRequests(Call& call);
std::unique_ptr<Reply> CancelRequest(Call& call);
std::unique_ptr<Reply> DrainServer(Call& call);
std::unique_ptr<Reply> ResumeServer(Call& call);
std::unique_ptr<Reply> ListRoutes(Call& call);
std::unique_ptr<Reply> ListTenants(Call& call);
std::unique_ptr<Reply> ShowTenant(Call& call);
std::unique_ptr<Reply> ChangeTenant(Call& call);
std::unique_ptr<Reply> ShowCache(Call& call);
std::unique_ptr<Reply> ShowKernels(Call& call);
std::unique_ptr<Reply> FlushCache(Call& call);
std::unique_ptr<Reply> WarmCache(Call& call);
std::unique_ptr<Reply> LoadModel(Call& call);
std::unique_ptr<Reply> UnloadModel(Call& call);
std::unique_ptr<Reply> SwapModel(Call& call);
std::unique_ptr<Reply> PullModel(Call& call);
std::unique_ptr<Reply> PinModel(Call& call);
std::unique_ptr<Reply> RemoveModel(Call& call);
std::unique_ptr<Reply> ModelEvents(Call& call);
std::unique_ptr<Reply> PlanModel(Call& call);
std::unique_ptr<Reply> OllamaChat(Call& call);
std::unique_ptr<Reply> OllamaGenerate(Call& call);
std::unique_ptr<Reply> OllamaEmbed(Call& call);
std::unique_ptr<Reply> OllamaTags(Call& call);
std::unique_ptr<Reply> OllamaPs(Call& call);
std::unique_ptr<Reply> OllamaShow(Call& call);
std::unique_ptr<Reply> OllamaVersion(Call& call);
std::unique_ptr<Reply> OllamaPull(Call& call);
std::unique_ptr<Reply> ShowProfile(Call& call);
std::unique_ptr<Reply> Infill(Call& call);
std::unique_ptr<Reply> ShowOpenApi(Call& call);
std::unique_ptr<Reply> Moderations(Call& call);
std::unique_ptr<Reply> ShowUi(Call& call);
std::unique_ptr<Reply> NotSupported(Call& call);

}  // namespace adit::server

#endif  // ADIT_SERVER_ROUTES_H_
