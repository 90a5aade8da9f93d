#include "cli/bench_run.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/trace_file.h"

namespace adit::cli {
namespace {

// Lengths like those of public chat traces.
sched::LengthDistribution LengthOr(const std::optional<sched::LengthDistribution>& given, std::string_view otherwise) {
  return given ? *given : *sched::LengthDistribution::Parse(otherwise);
}

}  // namespace

Result<sched::Workload> MakeWorkload(const BenchOptions& options, int32_t vocab_size) {
  const bool is_chat = options.dataset == "chat";
  if (is_chat || options.dataset == "random") {
    sched::WorkloadOptions workload = options.workload;
    if (options.num_prompts) workload.num_requests = *options.num_prompts;
    workload.prompt_tokens = LengthOr(options.input_len, is_chat ? "lognormal:200:0.8:1:4096" : "512");
    workload.output_tokens = LengthOr(options.output_len, is_chat ? "lognormal:100:0.8:1:2048" : "128");
    workload.vocab_size = vocab_size;
    return sched::Workload::Create(workload);
  }
  const sched::WorkloadOptions& load = options.workload;
  if (options.input_len || options.output_len || std::isfinite(load.requests_per_s) || load.shared_prefix_tokens > 0 ||
      load.turns > 1 || load.tenants.size() > 1 || load.num_priorities > 1 || load.declared_tokens > 0) {
    return InvalidArgument(
        "--dataset: a trace says itself what arrives when; of the flags that describe a load only "
        "--num-prompts and --seed go with '{}'",
        OneLine(options.dataset));
  }
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(options.dataset));
  ADIT_ASSIGN_OR_RETURN(std::vector<sched::WorkloadRequest> requests,
                        ParseTrace(text, OneLine(options.dataset), options.num_prompts));
  return sched::Workload::FromRequests(std::move(requests), {{.name = "default"}}, options.workload.seed, vocab_size);
}

std::optional<int64_t> KvTokensOf(const BenchOptions& options) {
  if (options.pages) return *options.pages * options.scheduler.groups.block_size;
  return options.kv_tokens;
}

std::vector<BenchSetting> LoadSettingsOf(const BenchOptions& options, const sched::Workload& workload) {
  const sched::WorkloadOptions& load = options.workload;
  std::vector<BenchSetting> settings = {
      {"dataset", options.dataset}, {"num_prompts", workload.num_requests()}, {"seed", fmt::format("{}", load.seed)}};
  if (options.dataset == "random" || options.dataset == "chat") {
    const bool is_chat = options.dataset == "chat";
    settings.push_back(
        {"input_len", LengthOr(options.input_len, is_chat ? "lognormal:200:0.8:1:4096" : "512").ToString()});
    settings.push_back(
        {"output_len", LengthOr(options.output_len, is_chat ? "lognormal:100:0.8:1:2048" : "128").ToString()});
    settings.push_back({"request_rate", std::isinf(load.requests_per_s) ? std::string("inf, all at once")
                                                                        : fmt::format("{:g}", load.requests_per_s)});
    if (std::isfinite(load.requests_per_s)) settings.push_back({"burstiness", load.burstiness});
    settings.push_back({"shared_prefix", load.shared_prefix_tokens});
    if (load.shared_prefix_tokens > 0) settings.push_back({"prefix_groups", load.num_prefix_groups});
    settings.push_back({"turns", load.turns});
    if (load.turns > 1) settings.push_back({"think_time_s", load.think_s});
    settings.push_back({"tenants", static_cast<int64_t>(load.tenants.size())});
  }
  const auto add_objective = [&](const char* key, double seconds) {
    if (seconds != sched::kNever) settings.push_back({key, seconds * 1e3});
  };
  add_objective("ttft_objective_ms", options.objectives.first_token_s);
  add_objective("tpot_objective_ms", options.objectives.token_interval_s);
  return settings;
}

std::vector<BenchSetting> SettingsOf(const BenchOptions& options, const sched::Workload& workload) {
  const sched::SchedulerOptions& scheduler = options.scheduler;
  std::vector<BenchSetting> settings = LoadSettingsOf(options, workload);
  settings.push_back({"policy", std::string(sched::PolicyName(scheduler.policy))});
  settings.push_back({"batching", std::string(sched::BatchingName(scheduler.batching))});
  settings.push_back({"chunked_prefill", scheduler.chunked_prefill});
  settings.push_back({"prefix_cache", scheduler.prefix_cache});
  settings.push_back({"max_num_seqs", scheduler.max_num_seqs});
  settings.push_back({"max_num_batched_tokens", scheduler.max_batch_tokens});
  settings.push_back({"itl_target_ms", scheduler.itl_target_s * 1e3});
  settings.push_back({"block_size", scheduler.groups.block_size});
  return settings;
}

size_t MiddleRun(const std::vector<BenchRun>& runs) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return runs[a].summary.output_tokens_per_s < runs[b].summary.output_tokens_per_s;
  });
  return order[(order.size() - 1) / 2];
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

Result<ReportSink> ReportSink::Open(const std::optional<std::string>& path) {
  if (!path || *path == "-") return ReportSink(-1, "stdout");
  const int fd = ::open(path->c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return InvalidArgument("--output-file: '{}': {}", OneLine(*path), std::strerror(errno));
  return ReportSink(fd, *path);
}

ReportSink::ReportSink(ReportSink&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

ReportSink::~ReportSink() {
  if (fd_ >= 0) ::close(fd_);
}

Status ReportSink::Write(const std::string& text) {
  if (fd_ < 0) return Stdout().WriteText(text);
  // What is no regular file, such as a pipe, has no length to cut.
  if (::ftruncate(fd_, 0) != 0 && errno != EINVAL) {
    return Io("--output-file: '{}': {}", OneLine(path_), std::strerror(errno));
  }
  return Output(fd_, path_.c_str()).Write(text);
}

}  // namespace adit::cli
