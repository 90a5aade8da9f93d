// What /metrics tells of each model.

#include <algorithm>

#include "base/clock.h"
#include "server/metric_families_internal.h"

namespace adit::server {
namespace {

// Writes metrics of one model, which is a label of all.
class ModelWriter {
 public:
  ModelWriter(const std::string& model, MetricFamilies& out) : model_(model), out_(out) {}

  template <typename Number>
  void Gauge(const char* name, const char* help, Number value, MetricLabels labels = {}) {
    out_.Gauge(name, help, static_cast<double>(value), WithModel(std::move(labels)));
  }
  template <typename Number>
  void Count(const char* name, const char* help, Number value, MetricLabels labels = {}) {
    out_.Count(name, help, static_cast<double>(value), WithModel(std::move(labels)));
  }
  template <const auto& kBounds>
  void Times(const char* name, const char* help, const Histogram<kBounds>& histogram) {
    out_.AddHistogram(name, help, histogram, WithModel({}));
  }
  void Info(const char* name, const char* help, MetricLabels labels) {
    out_.Info(name, help, WithModel(std::move(labels)));
  }

 private:
  MetricLabels WithModel(MetricLabels labels) const {
    labels.push_back({"model", model_});
    return labels;
  }

  const std::string& model_;
  MetricFamilies& out_;
};

void AddState(const ModelFigures& model, ModelWriter& out) {
  for (const char* state : {"unloaded", "loading", "loaded", "failed"}) {
    out.Gauge("adit_model_state", "1 for the state that a model is in", model.state == state ? 1 : 0,
              {{"state", state}});
  }
}

void AddLoad(const ModelFigures& model, ModelWriter& out) {
  for (const auto& [phase, seconds] : model.load_phases) {
    out.Gauge("adit_startup_seconds", "That loading the model took, by phase", seconds, {{"phase", phase}});
  }
  for (const auto& [pool, bytes] : model.pools) {
    out.Gauge("adit_memory_bytes", "Memory by what it is for", bytes, {{"pool", pool}});
  }
}

void AddWaiting(const char* reason, int64_t num_waiting, ModelWriter& out) {
  out.Gauge("adit_num_requests_waiting", "Sequences that wait, by what for", num_waiting, {{"reason", reason}});
}

void AddGrammars(const grammar::CompilerStats& grammars, ModelWriter& out) {
  out.Count("adit_grammars_compiled_total", "Grammars compiled", grammars.num_compiled);
  out.Count("adit_grammar_cache_hits_total", "Grammars that had been compiled before", grammars.num_cache_hits);
  out.Times("adit_grammar_compile_seconds", "Time that compiling a grammar took", grammars.compile_seconds);
}

void AddPages(const ModelFigures& model, const engine::EngineStats& stats, ModelWriter& out) {
  const double pages = static_cast<double>(std::max<int64_t>(1, stats.pages.num_pages));
  const double held = static_cast<double>(stats.pages.num_pages - stats.pages.num_free - stats.pages.num_cached);
  out.Gauge("adit_kv_cache_usage_ratio", "Share of the pages that running sequences hold", held / pages);
  out.Gauge("adit_kv_cache_usage_perc", "The same, under the name of vLLM", held / pages);
  out.Gauge("adit_kv_pages_free", "Pages that nobody holds", stats.pages.num_free);
  out.Gauge("adit_kv_pages_cached", "Pages that the prefix cache alone holds", stats.pages.num_cached);
  out.Gauge("adit_kv_pages_total", "Pages there are", stats.pages.num_pages);
  out.Info("adit_cache_config_info", "The cache's shape",
           {{"block_size", std::to_string(model.block_size)}, {"kv_tokens", std::to_string(model.kv_tokens)}});
  out.Count("adit_prefix_cache_queries_total", "Tokens of prompts looked for in the prefix cache",
            stats.prefix_cache.query_tokens);
  out.Count("adit_prefix_cache_hits_total", "Tokens of prompts found there",
            stats.prefix_cache.hit_tokens + stats.prefix_cache.partial_tokens);
  out.Gauge("adit_cache_bytes", "Bytes of cached prefixes", stats.pages.num_cached * model.kv_page_bytes,
            {{"tier", "ram"}});
  for (int i = 0; i < kv::kNumMissReasons; ++i) {
    out.Count("adit_cache_miss_total", "Prompts by why no more of them was in the cache",
              stats.prefix_cache.misses[static_cast<size_t>(i)],
              {{"reason", kv::MissReasonName(static_cast<kv::MissReason>(i))}});
  }
  out.Times("adit_kv_block_lifetime_seconds", "From a page's coming into the prefix cache to its eviction",
            stats.page_times.lifetime);
  out.Times("adit_kv_block_idle_before_evict_seconds", "From a cached page's last use to its eviction",
            stats.page_times.idle);
  out.Times("adit_kv_block_reuse_gap_seconds", "From one use of a cached page to the next", stats.page_times.reuse);
}

// What steps were made of, and where their time went.
void AddSteps(const engine::EngineStats& stats, ModelWriter& out) {
  const sched::SchedulerCounters& steps = stats.scheduler;
  out.Count("adit_engine_steps_total", "Steps", steps.steps);
  out.Times("adit_iteration_tokens", "Tokens of a step, of prompts and answers", steps.step_tokens);
  out.Gauge("adit_batch_size", "Sequences of the last step", steps.last_step_sequences);
  out.Gauge("adit_busy_sequences_per_step", "Sequences of a step, mean",
            static_cast<double>(steps.step_sequences) / static_cast<double>(std::max<int64_t>(1, steps.steps)));
  out.Gauge("adit_n_tokens_max", "Tokens of the longest sequence so far", steps.longest_sequence);
  out.Count(
      "adit_grammar_mask_seconds_total",
      "Processor time in which grammars said which tokens may come and took what came, a part of the phase sample",
      stats.mask_seconds);
  const std::pair<const char*, double> phases[] = {
      {"plan", stats.plan_seconds}, {"model", stats.model_seconds}, {"sample", stats.sample_seconds}};
  for (const auto& [phase, seconds] : phases) {
    out.Count("adit_step_seconds_total", "Time spent in steps, by what was done", seconds, {{"phase", phase}});
  }
  // The engine's clock is the steady one; dashboards have the time of day.
  const double age_s = stats.last_step_s > 0 ? SteadySeconds() - stats.last_step_s : 0.0;
  out.Gauge("adit_engine_last_step_age_seconds", "Since the last step", age_s);
  out.Gauge("adit_engine_last_step_timestamp_seconds", "When the last step ended, since the epoch; 0: none has",
            stats.last_step_s > 0 ? UnixSeconds() - age_s : 0.0);
}

// What the parts of the forward pass did, and in which time.
void AddKernels(const ModelFigures& model, const engine::EngineStats& stats, ModelWriter& out) {
  for (int i = 0; i < nn::kNumOps; ++i) {
    out.Count("adit_kernel_seconds_total", "Time spent in steps, by what the model did and the kernels it did it with",
              stats.op_seconds[static_cast<size_t>(i)],
              {{"op", nn::OpName(static_cast<nn::Op>(i))}, {"variant", model.kernels}});
  }
  const std::pair<nn::Op, const plan::Work*> parts[] = {{nn::Op::kLinear, &stats.work.linear},
                                                        {nn::Op::kAttention, &stats.work.attention},
                                                        {nn::Op::kOutput, &stats.work.output}};
  for (const auto& [op, work] : parts) {
    out.Count("adit_kernel_bytes_total", "Weights and cached keys and values that had to be read", work->bytes,
              {{"op", nn::OpName(op)}});
    out.Count("adit_kernel_flops_total", "Multiplications and additions that had to be done", work->ops(),
              {{"op", nn::OpName(op)}});
  }
}

void AddSpeed(const engine::EngineStats& stats, double peak_bytes_per_s, ModelWriter& out) {
  out.Count("adit_weight_read_bytes_total", "Bytes of weights that steps have read",
            stats.work.linear.bytes + stats.work.output.bytes);
  if (peak_bytes_per_s <= 0) return;
  const double rate = stats.model_seconds > 0 ? stats.work.Total().bytes / stats.model_seconds : 0.0;
  for (const auto& [kind, value] : {std::pair("measured_peak", peak_bytes_per_s), std::pair("achieved", rate)}) {
    out.Gauge("adit_memory_bandwidth_bytes_per_second",
              "At which memory was read when the server began, and at which steps have read since", value,
              {{"kind", kind}});
  }
  out.Gauge("adit_roofline_ratio", "Share of the measured memory speed that steps have reached",
            rate / peak_bytes_per_s, {{"phase", "step"}});
}

void AddEngine(const ModelFigures& model, const engine::EngineStats& stats, double peak_bytes_per_s, ModelWriter& out) {
  out.Gauge("adit_num_requests_running", "Sequences that run", stats.num_running);
  AddWaiting("capacity", stats.num_waiting - stats.num_held_back, out);
  AddWaiting("tenant", stats.num_held_back, out);
  AddWaiting("deferred", stats.num_paused, out);
  out.Count("adit_prompt_tokens_total", "Tokens of prompts that were computed", stats.scheduler.prompt_tokens);
  out.Count("adit_generation_tokens_total", "Tokens generated", stats.scheduler.output_tokens);
  out.Count("adit_num_preemptions_total", "Sequences that gave way", stats.scheduler.preemptions);
  out.Count("adit_engine_cancelled_total", "Requests cancelled", stats.cancelled);
  out.Count("adit_deadline_missed_total", "Requests whose time ran out", stats.missed_deadlines);
  out.Gauge("adit_estimated_queue_seconds", "Until a request that came now would begin", stats.queue_seconds);
  out.Gauge("adit_tenant_lag_tokens", "Greatest difference in service of tenants that wait", stats.fairness_gap);
  AddPages(model, stats, out);
  AddSteps(stats, out);
  AddKernels(model, stats, out);
  AddSpeed(stats, peak_bytes_per_s, out);
}

void AddEmbeddings(const engine::EmbeddingStats& stats, ModelWriter& out) {
  out.Gauge("adit_num_requests_running", "Requests whose texts are embedded", stats.num_requests);
  AddWaiting("capacity", stats.num_waiting, out);
  out.Count("adit_prompt_tokens_total", "Tokens of texts that were embedded", stats.tokens);
  out.Count("adit_engine_steps_total", "Passes", stats.passes);
}

}  // namespace

void AddModel(const ModelFigures& model, double peak_bytes_per_s, MetricFamilies& families) {
  ModelWriter out(model.model, families);
  AddState(model, out);
  AddLoad(model, out);
  if (model.grammars) AddGrammars(*model.grammars, out);
  if (model.engine) AddEngine(model, *model.engine, peak_bytes_per_s, out);
  if (model.embeddings) AddEmbeddings(*model.embeddings, out);
}

}  // namespace adit::server
