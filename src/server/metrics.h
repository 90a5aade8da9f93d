#ifndef ADIT_SERVER_METRICS_H_
#define ADIT_SERVER_METRICS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/embedding_engine.h"
#include "engine/engine.h"
#include "server/http_server.h"
#include "server/request_record.h"

namespace adit::server {

// What is read when somebody asks for the metrics.
struct ModelFigures {
  std::string model;
  std::string state;                                 // as ModelStateName has it
  std::optional<engine::EngineStats> engine;         // of one that generates and is loaded
  std::optional<engine::EmbeddingStats> embeddings;  // of one that makes embeddings
  int64_t kv_tokens = 0;
  int64_t block_size = 0;
};
struct MetricsNow {
  std::vector<ModelFigures> models;
  int64_t resident_bytes = 0;
  bool ready = false;
  HttpCounters http;
};

// What answers of one model were like. Any thread.
class ModelMetrics {
 public:
  virtual ~ModelMetrics() = default;
  // A request that generates: what it asked for.
  virtual void CountParams(int64_t num_answers, int64_t max_tokens) = 0;
  // The time between two tokens of one answer.
  virtual void CountInterval(double seconds) = 0;
  // What one answer cost.
  virtual void CountAnswer(const AnswerStats& stats, std::string_view finish_reason) = 0;
};

// Figures for Prometheus, docs/server.md. Any thread.
class Metrics {
 public:
  // `model`: the default one.
  Metrics(std::string_view model, std::string_view version);
  ~Metrics();

  // A request has ended. `seconds`: from its header to the last byte.
  void Count(const RequestRecord& record, bool client_gone, double seconds);
  // Those of a model, which stay where they are.
  ModelMetrics& Of(const std::string& model);

  // Prometheus' text format, version 0.0.4.
  std::string Text(const MetricsNow& now) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_METRICS_H_
