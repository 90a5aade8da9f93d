#include "server/request_checks.h"

#include <fmt/core.h>

#include "server/service.h"

namespace adit::server {
namespace {

constexpr size_t kMaxHeaderBytes = 1024;

}  // namespace

std::optional<ApiError> CheckAsked(const Call& call, const std::string& model,
                                   const std::vector<std::string>& ignored) {
  return CheckAsked(call.service, *call.model, model, ignored);
}

std::optional<ApiError> CheckAsked(Service& service, const ServedModel& served, const std::string& model,
                                   const std::vector<std::string>& ignored) {
  if (!served.Answers(model)) return UnknownModel(service.models(), model);
  if (service.options().strict_params && !ignored.empty()) {
    const std::string& name = ignored.front();
    return ApiError{.code = "unknown_parameter", .message = fmt::format("'{}' is not known", name), .param = name};
  }
  return std::nullopt;
}

void AddIgnored(const std::vector<std::string>& ignored, HttpHead& head) {
  if (ignored.empty()) return;
  std::string text;
  for (const std::string& word : ignored) {
    // Only what a header may hold.
    std::string printable;
    for (const char c : word) printable += c > 0x20 && c < 0x7F && c != ',' ? c : '?';
    text += (text.empty() ? "" : ", ") + printable;
  }
  head.headers.emplace_back("x-ignored-params", text.substr(0, kMaxHeaderBytes));
}

}  // namespace adit::server
