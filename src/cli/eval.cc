// adit eval perplexity and kld.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "cli/window_run.h"
#include "engine/model_runner.h"
#include "eval/base_logits.h"
#include "eval/statistics.h"
#include "eval/text_windows.h"

namespace adit::cli {
namespace {

// A model and what runs it.
struct Subject {
  std::unique_ptr<engine::LoadedModel> model;
  std::unique_ptr<engine::ModelRunner> runner;
};

// Sequences of up to `context` tokens.
Result<Subject> Open(const std::string& path, const EngineOptions& options, int64_t context) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(path));
  Subject subject;
  ADIT_ASSIGN_OR_RETURN(subject.model, LoadModel(path, options));
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options));
  const models::ModelSpec& spec = subject.model->spec();
  if (context > spec.context_length) {
    return InvalidArgument("eval: windows of {} tokens, the context of '{}' is {}; --ctx makes them shorter", context,
                           path, spec.context_length);
  }
  ADIT_ASSIGN_OR_RETURN(
      subject.runner,
      engine::ModelRunner::Create(*subject.model, {.kv_types = kv_types,
                                                   .kv_tokens = context,
                                                   .max_batch_tokens = eval::PassTokens(spec.vocab_size, context)}));
  return subject;
}

Result<eval::TextWindows> WindowsOf(const EvalOptions& options, const engine::LoadedModel& model, int64_t context) {
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(options.file));
  return eval::CutText(model.tokenizer(), text, context, options.limit);
}

nlohmann::ordered_json Told(const eval::TextWindows& windows, int64_t num_windows) {
  return {{"windows", num_windows},
          {"context", windows.context},
          {"scored_tokens", num_windows * windows.scored_per_window()}};
}

Status Print(const nlohmann::ordered_json& json) { return Stdout().Write(json.dump() + "\n"); }

Status PrintPerplexity(const EvalPerplexityOptions& options, const eval::TextWindows& windows,
                       const eval::Perplexity& perplexity, double seconds) {
  const double tokens_per_s = static_cast<double>(windows.tokens.size()) / seconds;
  if (options.json) {
    nlohmann::ordered_json json = {{"model", options.model},
                                   {"perplexity", perplexity.value()},
                                   {"perplexity_error", perplexity.error()},
                                   {"nll", perplexity.nll()}};
    json.update(Told(windows, windows.num_windows()));
    json["tokens_per_s"] = tokens_per_s;
    return Print(json);
  }
  return Stdout().Write(
      fmt::format("perplexity  {:.4f} +/- {:.4f}\n"
                  "scored      {} tokens, in {} windows of {}; {:.1f} tok/s\n",
                  perplexity.value(), perplexity.error(), perplexity.count(), windows.num_windows(), windows.context,
                  tokens_per_s));
}

// Quantiles of the divergences that are told.
constexpr std::pair<const char*, double> kQuantiles[] = {{"median", 0.5}, {"p90", 0.9},     {"p95", 0.95},
                                                         {"p99", 0.99},   {"p99.9", 0.999}, {"largest", 1.0}};

Status PrintDivergence(const EvalKldOptions& options, const eval::TextWindows& windows, int64_t num_windows,
                       const eval::Divergence& divergence) {
  const eval::MeanWithError& mean = divergence.divergence();
  const eval::MeanWithError& same = divergence.same_top();
  const eval::MeanWithError& change = divergence.probability_change();
  const eval::MeanWithError& ratio = divergence.log_ratio();
  if (options.json) {
    nlohmann::ordered_json quantiles;
    for (const auto& [name, q] : kQuantiles) quantiles[name] = divergence.DivergenceQuantile(q);
    nlohmann::ordered_json json = {{"model", options.model},
                                   {"base", options.base},
                                   {"perplexity", divergence.perplexity().value()},
                                   {"perplexity_error", divergence.perplexity().error()},
                                   {"base_perplexity", divergence.base_perplexity().value()},
                                   {"base_perplexity_error", divergence.base_perplexity().error()},
                                   {"log_perplexity_ratio", ratio.mean()},
                                   {"log_perplexity_ratio_error", ratio.error()},
                                   {"mean_kld", mean.mean()},
                                   {"mean_kld_error", mean.error()},
                                   {"kld", quantiles},
                                   {"same_top", same.mean()},
                                   {"same_top_error", same.error()},
                                   {"mean_probability_change", change.mean()},
                                   {"rms_probability_change", divergence.probability_change_rms()}};
    json.update(Told(windows, num_windows));
    return Print(json);
  }
  std::string text = fmt::format(
      "perplexity          {:.4f} +/- {:.4f}, of the base {:.4f}\n"
      "ratio               {:.5f} +/- {:.5f}\n"
      "mean KL divergence  {:.6f} +/- {:.6f} nats\n",
      divergence.perplexity().value(), divergence.perplexity().error(), divergence.base_perplexity().value(),
      std::exp(ratio.mean()), std::exp(ratio.mean()) * ratio.error(), mean.mean(), mean.error());
  for (const auto& [name, q] : kQuantiles) {
    text += fmt::format("  {:<18}{:.6f}\n", name, divergence.DivergenceQuantile(q));
  }
  text += fmt::format(
      "same top token      {:.2f} % +/- {:.2f} %\n"
      "probability change  mean {:+.3f} %, root mean square {:.3f} %, of the token that follows\n"
      "scored              {} tokens, in {} windows of {}\n",
      100.0 * same.mean(), 100.0 * same.error(), 100.0 * change.mean(), 100.0 * divergence.probability_change_rms(),
      mean.count(), num_windows, windows.context);
  return Stdout().Write(text);
}

// Rows of log-probabilities of one window of a base model.
Result<std::vector<float>> BaseRows(engine::ModelRunner& base, const eval::TextWindows& windows, int64_t window) {
  std::vector<float> rows;
  rows.reserve(static_cast<size_t>(windows.scored_per_window() * base.model().spec().vocab_size));
  ADIT_RETURN_IF_ERROR(eval::RunWindow(base, windows, window, [&](std::span<const float> logits, int32_t) {
    const auto log_sum = static_cast<float>(eval::LogSumExp(logits));
    for (const float x : logits) rows.push_back(x - log_sum);
  }));
  return rows;
}

Status CheckVocabulary(const EvalKldOptions& options, int64_t base_size, const engine::LoadedModel& model) {
  if (base_size == model.spec().vocab_size) return Status();
  return InvalidArgument("eval kld: '{}' has a vocabulary of {}, '{}' one of {}: their predictions cannot be compared",
                         options.base, base_size, options.model, model.spec().vocab_size);
}

Result<int> CompareWithFile(const EvalKldOptions& options) {
  if (!options.file.empty() || options.context) {
    return InvalidArgument("eval kld: '{}' holds the tokens too: --file and --ctx do not go with it", options.base);
  }
  ADIT_ASSIGN_OR_RETURN(const eval::BaseLogits base, eval::BaseLogits::Open(options.base));
  eval::TextWindows windows = base.windows();
  ADIT_ASSIGN_OR_RETURN(const Subject subject, Open(options.model, options.engine, windows.context));
  ADIT_RETURN_IF_ERROR(CheckVocabulary(options, base.vocab_size(), *subject.model));
  const tokenizer::Tokenizer& tokenizer = subject.model->tokenizer();
  if (tokenizer.adds_bos()) windows.bos = tokenizer.bos_id();
  const int64_t num_windows = std::min(windows.num_windows(), options.limit.value_or(windows.num_windows()));
  eval::Divergence divergence(eval::BaseLogits::kLeast);
  std::vector<float> base_row(static_cast<size_t>(base.vocab_size()));
  const Status status = ForWindows(num_windows, "Evaluating", [&](int64_t window) {
    int64_t row = 0;
    return eval::RunWindow(*subject.runner, windows, window, [&](std::span<const float> logits, int32_t next) {
      base.ReadRow(window, row++, base_row);
      divergence.Add(base_row, logits, next);
    });
  });
  if (status.ok()) ADIT_RETURN_IF_ERROR(PrintDivergence(options, windows, num_windows, divergence));
  return Ended(status);
}

Result<int> CompareWithModel(const EvalKldOptions& options) {
  if (options.file.empty()) return InvalidArgument("eval kld: --file is required with a base that is a model");
  const int64_t context = options.context.value_or(kDefaultWindow);
  ADIT_ASSIGN_OR_RETURN(const Subject base, Open(options.base, options.engine, context));
  ADIT_ASSIGN_OR_RETURN(const eval::TextWindows windows, WindowsOf(options, *base.model, context));
  ADIT_ASSIGN_OR_RETURN(const Subject subject, Open(options.model, options.engine, context));
  ADIT_RETURN_IF_ERROR(CheckVocabulary(options, base.model->spec().vocab_size, *subject.model));
  const auto vocab_size = static_cast<size_t>(subject.model->spec().vocab_size);
  eval::Divergence divergence;
  const Status status = ForWindows(windows.num_windows(), "Evaluating", [&](int64_t window) -> Status {
    ADIT_ASSIGN_OR_RETURN(const std::vector<float> rows, BaseRows(*base.runner, windows, window));
    size_t at = 0;
    return eval::RunWindow(*subject.runner, windows, window, [&](std::span<const float> logits, int32_t next) {
      divergence.Add(std::span(rows).subspan(at, vocab_size), logits, next);
      at += vocab_size;
    });
  });
  if (status.ok()) ADIT_RETURN_IF_ERROR(PrintDivergence(options, windows, windows.num_windows(), divergence));
  return Ended(status);
}

}  // namespace

Result<int> Run(const EvalPerplexityOptions& options) {
  const int64_t context = options.context.value_or(kDefaultWindow);
  ADIT_ASSIGN_OR_RETURN(const Subject subject, Open(options.model, options.engine, context));
  ADIT_ASSIGN_OR_RETURN(const eval::TextWindows windows, WindowsOf(options, *subject.model, context));
  const InterruptScope interrupts{SIGINT, SIGTERM};
  std::optional<eval::BaseLogitsWriter> writer;
  if (options.save_base) {
    ADIT_ASSIGN_OR_RETURN(
        writer, eval::BaseLogitsWriter::Create(*options.save_base, windows, subject.model->spec().vocab_size));
  }
  eval::Perplexity perplexity;
  Status written;
  const double begin = SteadySeconds();
  const Status status = ForWindows(windows.num_windows(), "Evaluating", [&](int64_t window) -> Status {
    ADIT_RETURN_IF_ERROR(
        eval::RunWindow(*subject.runner, windows, window, [&](std::span<const float> logits, int32_t next) {
          perplexity.Add(eval::LogSumExp(logits) - static_cast<double>(logits[static_cast<size_t>(next)]));
          if (writer && written.ok()) written = writer->Append(logits);
        }));
    return written;
  });
  if (!status.ok()) return Ended(status);
  if (writer) ADIT_RETURN_IF_ERROR(writer->Finish());
  ADIT_RETURN_IF_ERROR(PrintPerplexity(options, windows, perplexity, SteadySeconds() - begin));
  return kExitOk;
}

Result<int> Run(const EvalKldOptions& options) {
  const InterruptScope interrupts{SIGINT, SIGTERM};
  return eval::BaseLogits::IsOne(options.base) ? CompareWithFile(options) : CompareWithModel(options);
}

}  // namespace adit::cli
