#include "server/batch_record.h"
#include "server/answer_writer.h"

#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <variant>

#include "server/batch_line.h"
#include "server/json_fields.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxFaults = 32;
constexpr int64_t kMaxRequests = 50'000;

constexpr std::string_view kStatusNames[kNumBatchStatuses] = {"validating", "failed",  "in_progress", "finalizing",
                                                              "completed",  "expired", "cancelling",  "cancelled"};
// Of the JSON object, in the order of the statuses; validating: when it was made.
constexpr const char* kTimeNames[kNumBatchStatuses] = {"created_at",   "failed_at",  "in_progress_at", "finalizing_at",
                                                       "completed_at", "expired_at", "cancelling_at",  "cancelled_at"};

const char* EndpointOf(ApiKind kind) { return kind == ApiKind::kChat ? "/v1/chat/completions" : "/v1/completions"; }

OrderedJson StringOrNull(const std::string& text) { return text.empty() ? OrderedJson() : OrderedJson(text); }

OrderedJson FaultsJson(const std::vector<BatchFault>& faults) {
  OrderedJson data = OrderedJson::array();
  for (const BatchFault& fault : faults) {
    data.push_back({{"code", fault.code},
                    {"line", fault.line > 0 ? OrderedJson(fault.line) : OrderedJson()},
                    {"message", fault.message},
                    {"param", nullptr}});
  }
  return data;
}

void ReadFaults(const nlohmann::json* faults, BatchRecord& record) {
  if (faults == nullptr || !faults->is_array()) return;
  for (const nlohmann::json& one : *faults) {
    if (!one.is_object()) continue;
    FieldReader fields(one);
    record.faults.push_back({.code = fields.Text("code", 0, SIZE_MAX).value_or(""),
                             .message = fields.Text("message", 0, SIZE_MAX).value_or(""),
                             .line = fields.Whole("line", 0, kMaxInt64).value_or(0)});
  }
}

}  // namespace

std::string_view BatchStatusName(BatchStatus status) { return kStatusNames[static_cast<size_t>(status)]; }

void BatchRecord::Reach(BatchStatus next, int64_t now_s) {
  status = next;
  reached_s[static_cast<size_t>(next)] = now_s;
}

OrderedJson BatchJson(const BatchRecord& record) {
  const bool ended = record.ended();
  OrderedJson json = {{"id", record.id},
                      {"object", "batch"},
                      {"endpoint", EndpointOf(record.kind)},
                      {"errors", nullptr},
                      {"input_file_id", record.input_file_id},
                      {"completion_window", record.completion_window},
                      {"status", BatchStatusName(record.status)},
                      {"output_file_id", ended ? StringOrNull(record.output_file_id) : OrderedJson()},
                      {"error_file_id", ended ? StringOrNull(record.error_file_id) : OrderedJson()}};
  if (!record.faults.empty()) json["errors"] = {{"object", "list"}, {"data", FaultsJson(record.faults)}};
  for (size_t i = 0; i < std::size(kTimeNames); ++i) {
    json[kTimeNames[i]] = record.reached_s[i] > 0 ? OrderedJson(record.reached_s[i]) : OrderedJson();
  }
  json["expires_at"] = record.expires_s;
  json["request_counts"] = {{"total", record.total}, {"completed", record.completed}, {"failed", record.failed}};
  json["metadata"] = OrderedJson::parse(record.metadata, nullptr, /*allow_exceptions=*/false);
  return json;
}

std::string RecordText(const BatchRecord& record) {
  OrderedJson json = BatchJson(record);
  json["tenant"] = record.tenant;
  json["number"] = record.number;
  json["output_file_id"] = record.output_file_id;
  json["error_file_id"] = record.error_file_id;
  json["faults"] = FaultsJson(record.faults);
  if (record.output_ttl_s) json["output_ttl_s"] = *record.output_ttl_s;
  return JsonText(json);
}

std::optional<BatchRecord> ReadRecord(const std::string& id, const std::string& text) {
  const Result<nlohmann::json> json = ParseJson(text);
  if (!json.ok() || !json->is_object()) return std::nullopt;
  FieldReader fields(*json);
  const auto word = [&fields](const char* key) { return fields.Text(key, 0, SIZE_MAX).value_or(""); };
  BatchRecord record{.id = id, .tenant = word("tenant"), .input_file_id = word("input_file_id")};
  record.kind = word("endpoint") == EndpointOf(ApiKind::kChat) ? ApiKind::kChat : ApiKind::kCompletion;
  record.completion_window = word("completion_window");
  record.output_file_id = word("output_file_id");
  record.error_file_id = word("error_file_id");
  record.number = fields.Whole("number", 0, kMaxInt64).value_or(0);
  record.output_ttl_s = fields.Whole("output_ttl_s", 0, kMaxInt64);
  record.expires_s = fields.Whole("expires_at", 0, kMaxInt64).value_or(0);
  if (const nlohmann::json* metadata = fields.Find("metadata"); metadata != nullptr) record.metadata = metadata->dump();
  for (size_t i = 0; i < std::size(kTimeNames); ++i) {
    record.reached_s[i] = fields.Whole(kTimeNames[i], 0, kMaxInt64).value_or(0);
  }
  const std::string status = word("status");
  size_t index = 0;
  while (index < std::size(kStatusNames) && kStatusNames[index] != status) ++index;
  if (const nlohmann::json* counts = fields.Find("request_counts"); counts != nullptr && counts->is_object()) {
    FieldReader reader(*counts);
    record.total = reader.Whole("total", 0, kMaxInt64).value_or(0);
    record.completed = reader.Whole("completed", 0, kMaxInt64).value_or(0);
    record.failed = reader.Whole("failed", 0, kMaxInt64).value_or(0);
  }
  ReadFaults(fields.Find("faults"), record);
  if (fields.error() || index == std::size(kStatusNames) || record.input_file_id.empty()) return std::nullopt;
  record.status = static_cast<BatchStatus>(index);
  return record;
}

std::vector<BatchFault> CheckBatchInput(std::string_view text, ApiKind kind, int64_t& num_requests) {
  std::vector<BatchFault> faults;
  std::unordered_map<std::string, int64_t> seen;
  num_requests = 0;
  TextLines lines(text);
  for (std::string_view line; lines.Next(line) && faults.size() < kMaxFaults;) {
    const auto add = [&](std::string code, std::string message) {
      faults.push_back({.code = std::move(code), .message = std::move(message), .line = lines.number()});
    };
    if (++num_requests > kMaxRequests) {
      add("too_many_requests", fmt::format("the file has more than {} requests", kMaxRequests));
      break;
    }
    const auto parsed = ParseBatchLine(line);
    if (const auto* error = std::get_if<BatchLineError>(&parsed)) {
      add(error->error.code, error->error.message);
      continue;
    }
    const BatchRequestLine& request = std::get<BatchRequestLine>(parsed);
    if (request.kind != kind) {
      add("invalid_url", fmt::format("'url' is not {}, the endpoint of the batch", EndpointOf(kind)));
      continue;
    }
    const auto [first, is_new] = seen.try_emplace(request.custom_id, lines.number());
    if (is_new) continue;
    add("duplicate_custom_id", fmt::format("lines {} and {} have the same custom_id", first->second, lines.number()));
  }
  if (num_requests == 0) faults.push_back({.code = "empty_file", .message = "the file has no requests"});
  return faults;
}

BatchResults ReadBatchResults(std::string_view text) {
  BatchResults results;
  results.whole_bytes = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
  TextLines lines(text.substr(0, results.whole_bytes));
  for (std::string_view line; lines.Next(line);) {
    if (std::optional<std::string> id = CustomIdOf(line); id) results.custom_ids.insert(*std::move(id));
  }
  return results;
}

bool TextLines::Next(std::string_view& line) {
  while (!rest_.empty()) {
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace adit::server
