#include "cli/trace_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace adit::cli {
namespace {

using Json = nlohmann::json;

constexpr int64_t kBlockTokens = 512;
constexpr size_t kMaxLineBytes = size_t{1} << 20;
constexpr int kMaxTraceDepth = 8;
constexpr int64_t kMaxTokens = sched::LengthDistribution::kMaxTokens;
constexpr double kMaxTimestamp = 1e13;

// Contents shared by id are odd, those of one request alone even: neither meets the other.
uint64_t SharedContent(uint64_t id) { return 2 * id + 1; }
uint64_t OwnContent(size_t index) { return 2 * static_cast<uint64_t>(index); }

// Parses one line, no deeper than kMaxTraceDepth.
Json ParseLine(std::string_view line) {
  const auto keep = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxTraceDepth; };
  return Json::parse(line, keep, /*allow_exceptions=*/false);
}

class TraceLine {
 public:
  TraceLine(std::string_view name, size_t number) : name_(name), number_(number) {}

  Result<sched::WorkloadRequest> Parse(std::string_view text, size_t index) const {
    if (text.size() > kMaxLineBytes) return Wrong(fmt::format("longer than {} bytes", kMaxLineBytes));
    const Json json = ParseLine(text);
    if (!json.is_object()) return Wrong("not a JSON object");
    ADIT_ASSIGN_OR_RETURN(const int64_t input, Length(json, "input_length"));
    ADIT_ASSIGN_OR_RETURN(const int64_t output, Length(json, "output_length"));
    sched::WorkloadRequest request{.output_tokens = output, .max_tokens = output};
    if (const auto timestamp = json.find("timestamp"); timestamp != json.end()) {
      if (!timestamp->is_number() || !(timestamp->get<double>() >= 0.0 && timestamp->get<double>() <= kMaxTimestamp)) {
        return Wrong("'timestamp' is not a number of milliseconds, 0 or above");
      }
      request.arrival_s = timestamp->get<double>() * 1e-3;
    }
    int64_t left = input;
    if (const auto ids = json.find("hash_ids"); ids != json.end()) {
      if (!ids->is_array()) return Wrong("'hash_ids' is not an array");
      for (const Json& id : *ids) {
        if (!id.is_number_unsigned()) return Wrong("'hash_ids' holds something else than whole numbers");
        if (left == 0) break;
        const int64_t tokens = std::min(left, kBlockTokens);
        request.parts.push_back({.content = SharedContent(id.get<uint64_t>()), .num_tokens = tokens});
        left -= tokens;
      }
    }
    if (left > 0) request.parts.push_back({.content = OwnContent(index), .num_tokens = left});
    return request;
  }

 private:
  Status Wrong(std::string_view what) const { return InvalidArgument("{}: line {}: {}", name_, number_, what); }

  Result<int64_t> Length(const Json& json, const char* key) const {
    const auto value = json.find(key);
    if (value == json.end() || !value->is_number()) return Wrong(fmt::format("no number '{}'", key));
    const auto number = value->get<double>();
    if (!(number >= 1.0 && number <= static_cast<double>(kMaxTokens))) {
      return Wrong(fmt::format("'{}' is {}; it is in 1..{}", key, number, kMaxTokens));
    }
    return static_cast<int64_t>(number);
  }

  std::string_view name_;
  size_t number_;
};

}  // namespace

Result<std::vector<sched::WorkloadRequest>> ParseTrace(std::string_view text, std::string_view name,
                                                       std::optional<int64_t> max_requests) {
  std::vector<sched::WorkloadRequest> requests;
  for (size_t number = 1; !text.empty(); ++number) {
    if (max_requests && static_cast<int64_t>(requests.size()) >= *max_requests) break;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ADIT_ASSIGN_OR_RETURN(sched::WorkloadRequest request, TraceLine(name, number).Parse(line, requests.size()));
    requests.push_back(std::move(request));
  }
  if (requests.empty()) return InvalidArgument("{}: there is no request in it", name);
  // Times count from the first.
  double first = requests.front().arrival_s;
  for (const sched::WorkloadRequest& request : requests) first = std::min(first, request.arrival_s);
  for (sched::WorkloadRequest& request : requests) request.arrival_s -= first;
  return requests;
}

}  // namespace adit::cli
