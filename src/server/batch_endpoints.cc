// OpenAI's /v1/batches.
#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/error.h"
#include "server/batch_endpoints.h"
#include "server/json_fields.h"
#include "server/list_page.h"
#include "server/model_pool.h"
#include "server/request_body.h"
#include "server/request_checks.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// How often it is looked whether a model is there.
constexpr std::chrono::milliseconds kModelPatience{100};
constexpr int64_t kUsualBatches = 20;
constexpr int64_t kMostBatches = 100;
constexpr size_t kMaxBatchMetadata = 16;
constexpr size_t kMaxMetadataBytes = 512;

class ServiceHost : public BatchHost {
 public:
  explicit ServiceHost(Service& service) : service_(service) {}

  Result<std::shared_ptr<const ServedModel>> Model(const std::string& name,
                                                   const std::function<bool()>& give_up) override {
    if (service_.guard_model() != nullptr) {
      return FailedPrecondition("batches are not run where a guard model judges answers");
    }
    while (service_.models().start_progress()) {
      if (give_up()) return Cancelled("no model is there yet");
      std::this_thread::sleep_for(kModelPatience);
    }
    TicketPtr ticket = service_.models().Ask(name, [] {});
    std::optional<PoolTicket::Outcome> outcome;
    while (!(outcome = ticket->outcome())) {
      if (give_up()) return Cancelled("the model is not loaded yet");
      std::this_thread::sleep_for(kModelPatience);
    }
    ADIT_RETURN_IF_ERROR(outcome->status);
    if (!outcome->lease->generates()) {
      return InvalidArgument("'{}' makes embeddings, and batches are of texts", outcome->lease->name());
    }
    return std::move(outcome->lease);
  }
  std::shared_ptr<const guard::Rules> Guard() override { return service_.guard(); }
  bool IsBusy() override { return service_.draining() || !service_.live().empty(); }
  bool HasSeveralModels() override { return !service_.models().is_single(); }
  int64_t TenantTokens(const std::string& tenant, const ServedModel& model) override {
    for (const KeyHolder& holder : service_.keys().Tenants()) {
      if (holder.tenant == tenant) return service_.TenantTokens(tenant, holder.quota, model);
    }
    return 0;
  }
  std::optional<ApiError> Check(const ServedModel& served, const ApiRequest& request) override {
    return CheckAsked(service_, served, request.model, request.ignored);
  }

 private:
  Service& service_;
};

std::unique_ptr<Reply> NoSuchBatch(Call& call) {
  return ErrorReply({.status = 404,
                     .code = "not_found",
                     .message = fmt::format("there is no batch '{}'", call.argument),
                     .param = "batch_id"},
                    *call.record);
}

std::unique_ptr<Reply> NoQueue(Call& call) {
  return ErrorReply({.status = 501,
                     .type = "not_supported_error",
                     .code = "not_supported",
                     .message = "batches are not run here: --file-store-mb is 0"},
                    *call.record);
}

void ReadMetadata(FieldReader& fields, BatchRecord& record) {
  const nlohmann::json* metadata = fields.Find("metadata");
  if (metadata == nullptr) return;
  if (!metadata->is_object()) return fields.FailType("metadata", *metadata, "an object");
  if (metadata->size() > kMaxBatchMetadata) {
    return fields.Fail(
        "invalid_value", "metadata",
        fmt::format("'metadata' has {} entries; it has at most {}", metadata->size(), kMaxBatchMetadata));
  }
  for (const auto& [key, value] : metadata->items()) {
    if (!value.is_string()) return fields.FailType("metadata." + key, value, "a string");
    if (value.get_ref<const std::string&>().size() > kMaxMetadataBytes || key.size() > kMaxMetadataBytes) {
      return fields.Fail("string_above_max_length", "metadata", "an entry of 'metadata' is too long");
    }
  }
  record.metadata = metadata->dump();
}

void ReadOutputTtl(FieldReader& fields, BatchRecord& record) {
  const nlohmann::json* wish = fields.Find("output_expires_after");
  if (wish == nullptr) return;
  if (!wish->is_object()) return fields.FailType("output_expires_after", *wish, "an object");
  FieldReader reader(*wish);
  if (reader.Text("anchor", 1, 64).value_or("") != "created_at") {
    return fields.Fail("invalid_value", "output_expires_after.anchor",
                       "'output_expires_after.anchor' is not created_at");
  }
  record.output_ttl_s = reader.Whole("seconds", kLeastTtlS, kMostTtlS);
  if (!record.output_ttl_s) {
    fields.Fail("invalid_value", "output_expires_after.seconds",
                fmt::format("'output_expires_after.seconds' is in {}..{}", kLeastTtlS, kMostTtlS));
  }
}

std::variant<BatchRecord, ApiError> ReadBatch(const nlohmann::json& body, const std::string& tenant) {
  FieldReader fields(body);
  BatchRecord record{.tenant = tenant};
  for (const char* key : {"input_file_id", "endpoint", "completion_window"}) {
    if (fields.Find(key) == nullptr) {
      fields.Fail("missing_required_parameter", key, fmt::format("'{}' is missing", key));
    }
  }
  record.input_file_id = fields.Text("input_file_id", 1, 256).value_or("");
  const std::string endpoint = fields.Text("endpoint", 1, 256).value_or("");
  record.completion_window = fields.Text("completion_window", 1, 64).value_or("");
  if (endpoint == "/v1/completions") {
    record.kind = ApiKind::kCompletion;
  } else if (endpoint != "/v1/chat/completions") {
    fields.Fail("unsupported_parameter", "endpoint",
                fmt::format("'endpoint' is \"{}\"; /v1/chat/completions and /v1/completions are supported in batches",
                            endpoint));
  }
  if (record.completion_window != "24h") {
    fields.Fail("invalid_value", "completion_window", "'completion_window' is not \"24h\"");
  }
  ReadMetadata(fields, record);
  ReadOutputTtl(fields, record);
  if (fields.error()) return *fields.error();
  return record;
}

}  // namespace

std::unique_ptr<BatchHost> MakeBatchHost(Service& service) { return std::make_unique<ServiceHost>(service); }

std::unique_ptr<Reply> CreateBatch(Call& call) {
  BatchQueue* const queue = call.service.batches();
  if (queue == nullptr) return NoQueue(call);
  const std::variant<nlohmann::json, ApiError> body = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  std::variant<BatchRecord, ApiError> read = ReadBatch(std::get<nlohmann::json>(body), call.holder.tenant);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  BatchRecord& wanted = std::get<BatchRecord>(read);
  const std::optional<StoredFile> input = call.service.files()->Find(call.holder.tenant, wanted.input_file_id);
  if (!input || input->purpose != "batch") {
    return ErrorReply({.code = "invalid_value",
                       .message = fmt::format("there is no file '{}' of the purpose batch", wanted.input_file_id),
                       .param = "input_file_id"},
                      *call.record);
  }
  const Result<BatchRecord> record = queue->Add(std::move(wanted));
  if (record.ok()) return JsonAnswer(BatchJson(*record));
  return ErrorReply(
      {.status = 507, .type = "server_error", .code = "insufficient_storage", .message = record.status().message()},
      *call.record);
}

std::unique_ptr<Reply> ListBatches(Call& call) {
  BatchQueue* const queue = call.service.batches();
  if (queue == nullptr) return NoQueue(call);
  OrderedJson items = OrderedJson::array();
  for (const BatchRecord& record : queue->List(call.holder.tenant)) items.push_back(BatchJson(record));
  const auto page = ListPage(std::move(items), call.request.query, kUsualBatches, kMostBatches);
  if (const auto* error = std::get_if<ApiError>(&page)) return ErrorReply(*error, *call.record);
  return JsonAnswer(std::get<OrderedJson>(page));
}

std::unique_ptr<Reply> ShowBatch(Call& call) {
  BatchQueue* const queue = call.service.batches();
  if (queue == nullptr) return NoQueue(call);
  const std::optional<BatchRecord> record = queue->Find(call.holder.tenant, call.argument);
  return record ? JsonAnswer(BatchJson(*record)) : NoSuchBatch(call);
}

std::unique_ptr<Reply> CancelBatch(Call& call) {
  BatchQueue* const queue = call.service.batches();
  if (queue == nullptr) return NoQueue(call);
  const std::optional<BatchRecord> record = queue->Cancel(call.holder.tenant, call.argument);
  return record ? JsonAnswer(BatchJson(*record)) : NoSuchBatch(call);
}

}  // namespace adit::server
