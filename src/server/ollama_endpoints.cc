// Ollama's interface, behind --compat ollama.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "server/generation_reply.h"
#include "server/guarded_body.h"
#include "server/json_fields.h"
#include "server/model_pool.h"
#include "server/ollama_request.h"
#include "server/ollama_writer.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxOllamaNameBytes = 512;
// Models stay until they are unloaded: later than anybody looks.
constexpr const char* kNever = "9999-12-31T00:00:00Z";

std::string ParameterText(const engine::LoadedModel& model) {
  double count = 0;
  for (const formats::TensorInfo& tensor : model.file().tensors()) count += static_cast<double>(tensor.num_elements());
  return count >= 1e9 ? fmt::format("{:.1f}B", count / 1e9) : fmt::format("{:.2f}M", count / 1e6);
}

OrderedJson DetailsOf(const ServedModel* served) {
  const std::string family = served == nullptr ? std::string() : served->model().spec().architecture;
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", family},
          {"families", family.empty() ? OrderedJson::array() : OrderedJson{family}},
          {"parameter_size", served == nullptr ? std::string() : ParameterText(served->model())},
          {"quantization_level", "unknown"}};
}

OrderedJson CapabilitiesOf(const ServedModel& served) {
  if (!served.generates()) return {"embedding"};
  const ApiModel& api = served.api();
  OrderedJson list = {"completion"};
  if (api.chat.ok() && api.output.tools != ToolSyntax::kNone) list.push_back("tools");
  if (api.fim) list.push_back("insert");
  if (api.chat.ok() && api.output.reasoning != ReasoningSyntax::kNone) list.push_back("thinking");
  return list;
}

// One of the names of a model, as lists of models have it.
OrderedJson ModelLine(Service& service, const ModelNow& now, const std::string& name) {
  const ServedModel* served = now.lease.get();
  int64_t bytes = served == nullptr ? 0 : static_cast<int64_t>(served->model().file().size_bytes());
  if (served == nullptr) {
    const Result<ModelPool::Plan> plan = service.models().PlanLoad(now.entry.name);
    if (plan.ok()) bytes = plan->weight_bytes;
  }
  return {{"name", name},
          {"model", name},
          {"modified_at", OllamaTime(served == nullptr ? 0.0 : static_cast<double>(served->created_s()))},
          {"size", bytes},
          {"digest", ""},
          {"details", DetailsOf(served)}};
}

std::unique_ptr<Reply> GenerateAs(Call& call, std::variant<OllamaBody, ApiError> (*read)(const nlohmann::json&),
                                  MakeAnswerWriter make_writer, bool is_chat) {
  const std::variant<nlohmann::json, ApiError> body = ReadGuardedBody(call);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  std::variant<OllamaBody, ApiError> result = read(std::get<nlohmann::json>(body));
  if (const auto* error = std::get_if<ApiError>(&result)) return ErrorReply(*error, *call.record);
  OllamaBody& wanted = std::get<OllamaBody>(result);
  if (wanted.only_loads) {
    // It is there by now.
    OrderedJson loaded = {{"model", call.model->name()}, {"created_at", OllamaNow()}};
    if (is_chat) loaded["message"] = {{"role", "assistant"}, {"content", ""}};
    if (!is_chat) loaded["response"] = "";
    loaded["done"] = true;
    loaded["done_reason"] = "load";
    return JsonAnswer(loaded);
  }
  return Generate(call, *wanted.chat.body,
                  {.kind = wanted.kind,
                   .make_writer = std::move(make_writer),
                   .rename = &RenameForOllama,
                   .ignored = std::move(wanted.chat.ignored)});
}

// The name of a model that a body has.
std::variant<std::string, ApiError> NameIn(FieldReader& fields) {
  std::optional<std::string> name = fields.Text("model", 1, kMaxOllamaNameBytes);
  // Its old name.
  if (!name) name = fields.Text("name", 1, kMaxOllamaNameBytes);
  if (!name) fields.Fail("missing_required_parameter", "model", "'model' is missing");
  if (fields.error()) return *fields.error();
  return std::string(WithoutLatest(*name));
}

// Tells how a model is fetched, on a line for each step, or once at the end.
class PullReply : public Reply {
 public:
  PullReply(Call& call, std::string name, bool streams)
      : service_(call.service),
        record_(call.record),
        name_(std::move(name)),
        streams_(streams),
        told_(call.service.models().last_event()),
        subscription_(call.service.models().Subscribe(call.wake)),
        ticket_(call.service.models().Fetch(name_, call.wake)) {}

  void Advance(ReplyOutput& out, bool) override {
    const std::optional<PoolTicket::Outcome> outcome = ticket_->outcome();
    if (streams_) TellEvents(out);
    if (!outcome) return;
    Status status = outcome->status;
    if (status.ok()) status = service_.models().Offer(name_);
    if (!status.ok() && !headed_) return ErrorReply(ErrorOfPool(status), *record_)->Advance(out, false);
    Head(out);
    if (status.ok()) WriteLine({{"status", "success"}}, out.body);
    if (!status.ok()) WriteLine({{"error", status.message()}}, out.body);
    out.done = true;
  }
  void Ended(bool) override {
    subscription_.reset();
    ticket_.reset();
  }

 private:
  void Head(ReplyOutput& out) {
    if (headed_) return;
    headed_ = true;
    out.SetHead({.content_type = streams_ ? "application/x-ndjson" : "application/json"});
  }
  void TellEvents(ReplyOutput& out) {
    for (const PoolEvent& event : service_.models().EventsAfter(told_)) {
      told_ = event.number;
      if (event.model != name_ || event.bytes.total_bytes == 0) continue;
      Head(out);
      WriteLine({{"status", "pulling " + name_},
                 {"digest", name_},
                 {"total", event.bytes.total_bytes},
                 {"completed", event.bytes.done_bytes}},
                out.body);
    }
  }

  Service& service_;
  const std::shared_ptr<RequestRecord> record_;
  const std::string name_;
  const bool streams_;
  int64_t told_;
  std::shared_ptr<void> subscription_;
  TicketPtr ticket_;
  bool headed_ = false;
};

}  // namespace

std::unique_ptr<Reply> OllamaChat(Call& call) {
  return GenerateAs(call, &ChatOfOllama, &MakeOllamaChatWriter, /*is_chat=*/true);
}

std::unique_ptr<Reply> OllamaGenerate(Call& call) {
  return GenerateAs(call, &GenerateOfOllama, &MakeOllamaGenerateWriter, /*is_chat=*/false);
}

std::unique_ptr<Reply> OllamaTags(Call& call) {
  OrderedJson models = OrderedJson::array();
  for (const ModelNow& now : call.service.models().List()) {
    models.push_back(ModelLine(call.service, now, now.entry.name));
    for (const std::string& alias : now.entry.aliases) models.push_back(ModelLine(call.service, now, alias));
  }
  return JsonAnswer({{"models", std::move(models)}});
}

std::unique_ptr<Reply> OllamaPs(Call& call) {
  OrderedJson models = OrderedJson::array();
  for (const ModelNow& now : call.service.models().List()) {
    if (now.lease == nullptr) continue;
    OrderedJson line = ModelLine(call.service, now, now.entry.name);
    line.erase("modified_at");
    line["size"] = now.memory_bytes;
    line["expires_at"] = kNever;
    line["size_vram"] = 0;
    line["context_length"] = now.lease->api().max_context;
    models.push_back(std::move(line));
  }
  return JsonAnswer({{"models", std::move(models)}});
}

std::unique_ptr<Reply> OllamaShow(Call& call) {
  const std::variant<nlohmann::json, ApiError> body = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  FieldReader fields(std::get<nlohmann::json>(body));
  const std::variant<std::string, ApiError> name = NameIn(fields);
  if (const auto* error = std::get_if<ApiError>(&name)) return ErrorReply(*error, *call.record);
  const std::string& wanted = std::get<std::string>(name);
  if (!call.model->Answers(wanted)) return ErrorReply(UnknownModel(call.service.models(), wanted), *call.record);
  const ServedModel& served = *call.model;
  const models::ModelSpec& spec = served.model().spec();
  const std::string& family = spec.architecture;
  OrderedJson info = {{"general.architecture", family},
                      {family + ".context_length", spec.context_length},
                      {family + ".embedding_length", spec.hidden_dim},
                      {family + ".vocab_size", spec.vocab_size}};
  return JsonAnswer({{"license", ""},
                     {"modelfile", "FROM " + served.name() + "\n"},
                     {"parameters", ""},
                     {"template", served.api().chat.ok() ? std::string(served.api().chat->source()) : std::string()},
                     {"details", DetailsOf(&served)},
                     {"model_info", std::move(info)},
                     {"capabilities", CapabilitiesOf(served)},
                     {"modified_at", OllamaTime(static_cast<double>(served.created_s()))}});
}

std::unique_ptr<Reply> OllamaVersion(Call& call) { return JsonAnswer({{"version", call.service.options().version}}); }

std::unique_ptr<Reply> OllamaPull(Call& call) {
  const std::variant<nlohmann::json, ApiError> body = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  FieldReader fields(std::get<nlohmann::json>(body));
  const bool streams = fields.Flag("stream").value_or(true);
  std::variant<std::string, ApiError> name = NameIn(fields);
  if (const auto* error = std::get_if<ApiError>(&name)) return ErrorReply(*error, *call.record);
  return std::make_unique<PullReply>(call, std::get<std::string>(std::move(name)), streams);
}

}  // namespace adit::server
