#include "server/engine_watch.h"

#include <algorithm>

namespace adit::server {
namespace {

struct Figures {
  int64_t num_requests = 0;
  int64_t steps = 0;
};

Figures FiguresOf(const ServedModel& served) {
  if (served.generates()) {
    const engine::EngineStats stats = served.engine().stats();
    return {.num_requests = stats.num_requests, .steps = stats.scheduler.steps};
  }
  const engine::EmbeddingStats stats = served.embedder().stats();
  return {.num_requests = stats.num_requests, .steps = stats.passes};
}

}  // namespace

double EngineWatch::StuckSeconds(const std::vector<ModelNow>& models, double now_s) {
  const std::lock_guard lock(mutex_);
  std::unordered_map<const ServedModel*, Watched> present;
  double longest_s = 0.0;
  for (const ModelNow& model : models) {
    if (model.lease == nullptr) continue;
    const Figures figures = FiguresOf(*model.lease);
    const auto known = watched_.find(model.lease.get());
    Watched watched = known == watched_.end() ? Watched{.steps = -1, .since_s = now_s} : known->second;
    if (figures.num_requests == 0 || figures.steps != watched.steps) {
      watched = {.steps = figures.steps, .since_s = now_s};
    }
    longest_s = std::max(longest_s, now_s - watched.since_s);
    present[model.lease.get()] = watched;
  }
  // Those that are gone are forgotten.
  watched_ = std::move(present);
  return longest_s;
}

}  // namespace adit::server
