#ifndef ADIT_SERVER_METRICS_H_
#define ADIT_SERVER_METRICS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/embedding_engine.h"
#include "engine/engine.h"
#include "grammar/compiler.h"
#include "server/host_figures.h"
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
  int64_t kv_page_bytes = 0;
  std::string kernels;                                      // the set that it runs with
  std::vector<std::pair<const char*, double>> load_phases;  // as LoadedModel has them
  // Of memory, in bytes: what it is for.
  std::vector<std::pair<const char*, int64_t>> pools;
  std::optional<grammar::CompilerStats> grammars;
};
struct MetricsNow {
  std::vector<ModelFigures> models;
  int64_t resident_bytes = 0;
  bool ready = false;
  HttpCounters http;
  HostFigures host;
  std::vector<Energy> energies;
  double peak_bytes_per_s = 0.0;  // at which memory was read when the server started; 0: not measured
};

// What answers of one model were like. Any thread.
class ModelMetrics {
 public:
  virtual ~ModelMetrics() = default;
  // A request that generates: what it asked for.
  virtual void CountParams(int64_t num_answers, int64_t max_tokens) = 0;
  // The time that making tokens of its prompt took.
  virtual void CountTokenize(double seconds) = 0;
  // The time that making text of one answer's tokens took, all together.
  virtual void CountDetokenize(double seconds) = 0;
  // The time between two tokens of one answer.
  virtual void CountInterval(double seconds) = 0;
  // What one answer cost.
  virtual void CountAnswer(const AnswerStats& stats, std::string_view finish_reason) = 0;
};
enum class MetricsFormat : uint8_t {
  kPrometheus,   // text, version 0.0.4
  kOpenMetrics,  // text, version 1.0.0
};
// What a client's Accept header asks for.
MetricsFormat FormatOfAccept(std::string_view accept);
const char* ContentTypeOf(MetricsFormat format);

// Figures for Prometheus, docs/server.md. Any thread.
class Metrics {
 public:
  // `model`: the default one; `with_vllm`: also under the names that vLLM has.
  Metrics(std::string_view model, std::string_view version, bool with_vllm);
  ~Metrics();

  // A request has ended. `seconds`: from its header to the last byte.
  void Count(const RequestRecord& record, bool client_gone, double seconds);
  // Those of a model, which stay where they are.
  ModelMetrics& Of(const std::string& model);

  // The time from a request's header to its submission: reading, checking, making tokens.
  void CountValidation(double seconds);

  std::string Text(const MetricsNow& now, MetricsFormat format) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_METRICS_H_
