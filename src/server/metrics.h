#ifndef ADIT_SERVER_METRICS_H_
#define ADIT_SERVER_METRICS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/embedding_engine.h"
#include "engine/engine.h"
#include "server/http_server.h"
#include "server/request_record.h"

namespace adit::server {

// What is read when somebody asks for the metrics.
struct MetricsNow {
  const engine::EngineStats* engine = nullptr;       // null: no model that generates is loaded
  std::optional<engine::EmbeddingStats> embeddings;  // of one that makes embeddings
  int64_t kv_tokens = 0;
  int64_t block_size = 0;
  int64_t resident_bytes = 0;
  bool ready = false;
  HttpCounters http;
};

// Figures for Prometheus, docs/server.md. Any thread.
class Metrics {
 public:
  Metrics(std::string_view model, std::string_view version);
  ~Metrics();

  // A request has ended. `seconds`: from its header to the last byte.
  void Count(const RequestRecord& record, bool client_gone, double seconds);
  // One that generates: what it asked for.
  void CountParams(int64_t num_answers, int64_t max_tokens);
  // The time between two tokens of one answer.
  void CountInterval(double seconds);
  // What one answer cost.
  void CountAnswer(const AnswerStats& stats, std::string_view finish_reason);

  // Prometheus' text format, version 0.0.4.
  std::string Text(const MetricsNow& now) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_METRICS_H_
