#include "cli/run_report.h"

#include <fmt/core.h>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "cli/units.h"
#include "engine/kv_types.h"
#include "engine/machine.h"

namespace adit::cli {
namespace {

double Rate(int64_t tokens, double seconds) { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0; }

std::string_view Name(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::kStop:
      return "ended by the model";
    case engine::FinishReason::kLength:
      return "ended by a limit";
    case engine::FinishReason::kCancelled:
      return "interrupted";
    case engine::FinishReason::kDeadline:
      return "ended by a deadline";
    case engine::FinishReason::kError:
      return "ended by an error";
  }
  return "unknown";
}

}  // namespace

void ReportRun(const engine::ModelRunner& runner, int64_t seed, const engine::AnswerStats& stats) {
  const engine::LoadedModel& model = runner.model();
  const int64_t computed = stats.prompt_tokens - stats.cached_tokens;
  // The first token comes from the prompt's logits, each other one from a pass of its own.
  const int64_t passes = stats.output_tokens > 0 ? stats.output_tokens - 1 : 0;
  const double prefill_seconds = stats.output_tokens > 0 ? stats.first_token_seconds : stats.total_seconds;
  const double decode_seconds = stats.total_seconds - prefill_seconds;
  const int64_t kv_bytes = static_cast<int64_t>(runner.kv_bytes_per_token()) * runner.kv_capacity_tokens();
  std::string text = fmt::format("\nload:     {:.3f} s\n", model.load_seconds());
  text += fmt::format("prefill:  {} tokens ({} cached) in {:.3f} s, {:.1f} tok/s\n", stats.prompt_tokens,
                      stats.cached_tokens, prefill_seconds, Rate(computed, prefill_seconds));
  text += fmt::format("decode:   {} tokens in {:.3f} s, {:.1f} tok/s, {}\n", stats.output_tokens, decode_seconds,
                      Rate(passes, decode_seconds), Name(stats.reason));
  text += fmt::format("memory:   peak {}; file {}, KV cache {} ({} tokens of {}), scratch {}\n",
                      FormatBytes(engine::PeakResidentBytes()),
                      FormatBytes(static_cast<int64_t>(model.file().size_bytes())), FormatBytes(kv_bytes),
                      runner.kv_capacity_tokens(), engine::KvTypesName(runner.k_type(), runner.v_type()),
                      FormatBytes(static_cast<int64_t>(runner.scratch_bytes())));
  text += fmt::format("kernels:  {}, {} thread{}\nseed:     {}\n", model.kernels().name, model.num_threads(),
                      model.num_threads() == 1 ? "" : "s", seed);
  (void)Stderr().Write(text);
}

}  // namespace adit::cli
