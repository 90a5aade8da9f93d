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
#include "server/host_figures.h"
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
  const char* model_state = "loading";  // or "loaded"
  HttpCounters http;
  HostFigures host;
  std::vector<Energy> energies;
  // Of memory, in bytes: what it is for.
  std::vector<std::pair<const char*, int64_t>> pools;
  int64_t kv_page_bytes = 0;
  int64_t weight_bytes = 0;       // that a step reads
  double peak_bytes_per_s = 0.0;  // at which memory was read when the server started; 0: not measured
  double load_seconds = 0.0;      // that the model took
  int64_t grammars_compiled = 0;
  int64_t grammar_cache_hits = 0;
  double grammar_compile_seconds = 0.0;
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
  // `with_vllm`: also under the names that vLLM has.
  Metrics(std::string_view model, std::string_view version, bool with_vllm);
  ~Metrics();

  // A request has ended. `seconds`: from its header to the last byte.
  void Count(const RequestRecord& record, bool client_gone, double seconds);
  // One that generates: what it asked for.
  void CountParams(int64_t num_answers, int64_t max_tokens);
  // The time between two tokens of one answer.
  void CountInterval(double seconds);
  // What one answer cost.
  void CountAnswer(const AnswerStats& stats, std::string_view finish_reason);

  // The time from a request's header to its submission: reading, checking, making tokens.
  void CountValidation(double seconds);

  std::string Text(const MetricsNow& now, MetricsFormat format) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_METRICS_H_
