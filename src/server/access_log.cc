#include "server/access_log.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxPathBytes = 200;

std::string UtcNow() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

// A path of a client in a line of a log: no control characters, not endless.
std::string Printable(const std::string& text) {
  std::string out;
  for (const char c : ReplaceInvalidUtf8(text.substr(0, kMaxPathBytes))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7F) {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string JsonLine(const RequestRecord& record, int status, double seconds, const std::string& time) {
  OrderedJson line = {{"time", time},
                      {"id", record.id},
                      {"peer", record.peer},
                      {"key", record.key_id},
                      {"tenant", record.tenant},
                      {"method", record.method},
                      {"path", Printable(record.path)},
                      {"status", status},
                      {"ms", seconds * 1e3}};
  if (!record.error_code.empty()) line["error"] = record.error_code;
  for (const guard::Verdict& verdict : record.verdicts) {
    line["guard"].push_back({{"rule", verdict.rule->name},
                             {"action", guard::ActionName(verdict.rule->action)},
                             {"side", guard::SideName(verdict.side)},
                             {"count", verdict.count}});
  }
  if (record.generates) {
    line["prompt_tokens"] = record.prompt_tokens;
    line["cached_tokens"] = record.cached_tokens;
    line["output_tokens"] = record.output_tokens.load(std::memory_order_relaxed);
    line["queue_ms"] = record.queue_s * 1e3;
    if (record.first_token_s > 0) line["ttft_ms"] = record.first_token_s * 1e3;
    if (!record.finish_reason.empty()) line["finish"] = record.finish_reason;
  }
  return line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

std::string LogLine(const RequestRecord& record, bool client_gone, double seconds, LogFormat format,
                    const std::string& time) {
  const int status = client_gone ? 499 : record.status;
  if (format == LogFormat::kJson) return JsonLine(record, status, seconds, time);
  std::string line = fmt::format("{} {} {} {} {} {} {} {} {:.1f}ms", time, record.id, record.peer, record.key_id,
                                 record.tenant, record.method, Printable(record.path), status, seconds * 1e3);
  if (!record.error_code.empty()) line += " error=" + record.error_code;
  for (const guard::Verdict& verdict : record.verdicts) {
    line += fmt::format(" guard={}:{}:{}:{}", verdict.rule->name, guard::ActionName(verdict.rule->action),
                        guard::SideName(verdict.side), verdict.count);
  }
  if (!record.generates) return line;
  line += fmt::format(" prompt={} cached={} output={}", record.prompt_tokens, record.cached_tokens,
                      record.output_tokens.load(std::memory_order_relaxed));
  if (record.first_token_s > 0) line += fmt::format(" ttft={:.1f}ms", record.first_token_s * 1e3);
  if (!record.finish_reason.empty()) line += " finish=" + record.finish_reason;
  return line;
}

void AccessLog::Write(const RequestRecord& record, bool client_gone, double seconds) {
  if (format_ != LogFormat::kNone) WriteLine(LogLine(record, client_gone, seconds, format_, UtcNow()));
}

void AccessLog::Note(const std::string& text) {
  if (format_ == LogFormat::kJson) {
    WriteLine(
        OrderedJson{{"time", UtcNow()}, {"note", text}}.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
  } else {
    WriteLine("adit: " + text);
  }
}

void AccessLog::WriteLine(const std::string& line) {
  const std::string whole = line + "\n";
  const std::lock_guard lock(mutex_);
  // Where the log cannot be written there is no one to tell.
  (void)!::write(descriptor_, whole.data(), whole.size());
}

}  // namespace adit::server
