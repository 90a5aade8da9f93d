// adit eval hellaswag, mmlu, gsm8k and needle.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
#include "eval/choice_item.h"
#include "eval/choice_task.h"
#include "eval/greedy_answer.h"
#include "eval/needle.h"
#include "eval/number_answer.h"
#include "eval/statistics.h"
#include "eval/text_windows.h"

namespace adit::cli {
namespace {

constexpr int64_t kMostItemTokens = 4096;

Status PrintJson(const nlohmann::ordered_json& json) { return Stdout().Write(json.dump() + "\n"); }

// A model and what runs sequences of some length.
struct TaskModel {
  std::unique_ptr<engine::LoadedModel> model;
  std::unique_ptr<engine::ModelRunner> runner;
};

// `logits`: whether those of many positions are wanted at once, so that passes must be short. `context` unset: the
// model's, up to kMostItemTokens.
Result<TaskModel> OpenTaskModel(const EvalOptions& options, std::optional<int64_t> context, bool logits) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
  TaskModel task;
  ADIT_ASSIGN_OR_RETURN(task.model, LoadModel(options.model, options.engine));
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  const models::ModelSpec& spec = task.model->spec();
  const int64_t kv_tokens = std::min(context.value_or(kMostItemTokens), spec.context_length);
  constexpr int64_t kPassTokens = 512;
  ADIT_ASSIGN_OR_RETURN(
      task.runner,
      engine::ModelRunner::Create(
          *task.model, {.kv_types = kv_types,
                        .kv_tokens = kv_tokens,
                        .max_batch_tokens = logits ? eval::PassTokens(spec.vocab_size, kv_tokens) : kPassTokens,
                        .observer = nullptr}));
  return task;
}

// The items of a file, a line each: the examples first.
template <typename Item>
Result<std::vector<Item>> ReadItems(const EvalChoiceOptions& options,
                                    Result<Item> (*parse)(std::string_view line, const std::string& name)) {
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(options.file));
  const std::optional<int64_t> most = options.limit ? std::optional(options.examples + *options.limit) : std::nullopt;
  std::vector<Item> items;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    if (most && static_cast<int64_t>(items.size()) >= *most) break;
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    ++number;
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ADIT_ASSIGN_OR_RETURN(Item item, parse(line, fmt::format("{}:{}", options.file, number)));
    items.push_back(std::move(item));
  }
  if (static_cast<int64_t>(items.size()) <= options.examples) {
    return InvalidArgument("eval: '{}' has {} items, of which {} are examples: none is left to ask", options.file,
                           items.size(), std::min<int64_t>(options.examples, static_cast<int64_t>(items.size())));
  }
  return items;
}

Result<int> RunChoice(const EvalChoiceOptions& options, const char* task_name,
                      Result<eval::ChoiceItem> (*parse)(std::string_view, const std::string&)) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<eval::ChoiceItem> items, ReadItems(options, parse));
  ADIT_ASSIGN_OR_RETURN(const TaskModel model, OpenTaskModel(options, options.context, /*logits=*/true));
  const auto num_examples = static_cast<size_t>(options.examples);
  std::string examples;
  for (size_t i = 0; i < num_examples; ++i) examples += eval::AsExample(items[i]);
  eval::ChoiceTask task(*model.runner, std::move(examples));
  eval::ChoiceScore score;
  const InterruptScope interrupts{SIGINT, SIGTERM};
  const Status status = ForWindows(static_cast<int64_t>(items.size() - num_examples), "Evaluating", [&](int64_t item) {
    return task.Ask(items[num_examples + static_cast<size_t>(item)], score);
  });
  if (!status.ok()) return Ended(status);
  const eval::MeanWithError& plain = score.accuracy;
  const eval::MeanWithError& normalised = score.normalised_accuracy;
  if (options.json) {
    ADIT_RETURN_IF_ERROR(PrintJson({{"model", options.model},
                                    {"task", task_name},
                                    {"items", plain.count()},
                                    {"examples", options.examples},
                                    {"accuracy", plain.mean()},
                                    {"accuracy_error", plain.error()},
                                    {"normalised_accuracy", normalised.mean()},
                                    {"normalised_accuracy_error", normalised.error()}}));
    return kExitOk;
  }
  ADIT_RETURN_IF_ERROR(
      Stdout().Write(fmt::format("accuracy             {:.2f} % +/- {:.2f} %\n"
                                 "normalised accuracy  {:.2f} % +/- {:.2f} %, by bytes of the ending\n"
                                 "items                {}, each after {} examples\n",
                                 100.0 * plain.mean(), 100.0 * plain.error(), 100.0 * normalised.mean(),
                                 100.0 * normalised.error(), plain.count(), options.examples)));
  return kExitOk;
}

// Of needles of one length at one depth.
struct NeedleCell {
  int64_t length = 0;
  int64_t depth_percent = 0;
  int64_t found = 0;
  int64_t asked = 0;
};

Status PrintNeedles(const EvalNeedleOptions& options, const std::vector<NeedleCell>& cells) {
  int64_t found = 0;
  int64_t asked = 0;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text = fmt::format("{:>9}", "tokens");
  for (const int64_t depth : options.depths) text += fmt::format(" {:>7}", fmt::format("{} %", depth));
  for (size_t i = 0; i < cells.size(); ++i) {
    const NeedleCell& cell = cells[i];
    if (i % options.depths.size() == 0) text += fmt::format("\n{:>9}", cell.length);
    text += fmt::format(" {:>7}", fmt::format("{}/{}", cell.found, cell.asked));
    json.push_back(
        {{"tokens", cell.length}, {"depth_percent", cell.depth_percent}, {"found", cell.found}, {"asked", cell.asked}});
    found += cell.found;
    asked += cell.asked;
  }
  const double share = static_cast<double>(found) / static_cast<double>(asked);
  if (options.json) {
    return PrintJson({{"model", options.model}, {"task", "needle"}, {"accuracy", share}, {"cells", std::move(json)}});
  }
  return Stdout().Write(text + fmt::format("\nfound {} of {}, {:.1f} %\n", found, asked, 100.0 * share));
}

}  // namespace

Result<int> Run(const EvalHellaSwagOptions& options) { return RunChoice(options, "hellaswag", &eval::ParseHellaSwag); }

Result<int> Run(const EvalMmluOptions& options) { return RunChoice(options, "mmlu", &eval::ParseMmlu); }

Result<int> Run(const EvalGsm8kOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<eval::NumberItem> items, ReadItems(options, &eval::ParseGsm8k));
  ADIT_ASSIGN_OR_RETURN(const TaskModel model, OpenTaskModel(options, options.context, /*logits=*/false));
  const auto num_examples = static_cast<size_t>(options.examples);
  std::string examples;
  for (size_t i = 0; i < num_examples; ++i) examples += eval::AsNumberExample(items[i]);
  // As lm-evaluation-harness stops.
  const eval::AnswerLimits limits{.stops = {"Question:", "</s>", "<|im_end|>"}, .max_tokens = options.max_tokens};
  eval::MeanWithError marked;
  eval::MeanWithError last;
  const InterruptScope interrupts{SIGINT, SIGTERM};
  const Status status =
      ForWindows(static_cast<int64_t>(items.size() - num_examples), "Evaluating", [&](int64_t i) -> Status {
        const eval::NumberItem& item = items[num_examples + static_cast<size_t>(i)];
        const std::vector<int32_t> prompt =
            model.model->tokenizer().Encode(examples + eval::NumberPrompt(item), false, true);
        ADIT_ASSIGN_OR_RETURN(const std::string answer, eval::GreedyAnswer(*model.runner, prompt, limits));
        marked.Add(eval::MarkedNumber(answer) == item.number ? 1.0 : 0.0);
        last.Add(eval::LastNumber(answer) == item.number ? 1.0 : 0.0);
        return Status();
      });
  if (!status.ok()) return Ended(status);
  if (options.json) {
    ADIT_RETURN_IF_ERROR(PrintJson({{"model", options.model},
                                    {"task", "gsm8k"},
                                    {"items", last.count()},
                                    {"examples", options.examples},
                                    {"exact_match", last.mean()},
                                    {"exact_match_error", last.error()},
                                    {"strict_match", marked.mean()},
                                    {"strict_match_error", marked.error()}}));
    return kExitOk;
  }
  ADIT_RETURN_IF_ERROR(
      Stdout().Write(fmt::format("exact match   {:.2f} % +/- {:.2f} %, by the last number of the answer\n"
                                 "strict match  {:.2f} % +/- {:.2f} %, by the number behind ####\n"
                                 "items         {}, each after {} examples\n",
                                 100.0 * last.mean(), 100.0 * last.error(), 100.0 * marked.mean(),
                                 100.0 * marked.error(), last.count(), options.examples)));
  return kExitOk;
}

Result<int> Run(const EvalNeedleOptions& options) {
  constexpr int64_t kAnswerTokens = 16;
  const int64_t longest = *std::ranges::max_element(options.lengths);
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(options.file));
  ADIT_ASSIGN_OR_RETURN(const TaskModel model, OpenTaskModel(options, longest + kAnswerTokens, /*logits=*/false));
  if (longest + kAnswerTokens > model.model->spec().context_length) {
    return InvalidArgument("eval needle: {} tokens and an answer of {} are more than the context of '{}', {}", longest,
                           kAnswerTokens, options.model, model.model->spec().context_length);
  }
  const tokenizer::Tokenizer& tokenizer = model.model->tokenizer();
  const std::vector<int32_t> haystack = tokenizer.Encode(text, false, false);
  std::vector<NeedleCell> cells;
  for (const int64_t length : options.lengths) {
    for (const int64_t depth : options.depths) cells.push_back({.length = length, .depth_percent = depth});
  }
  const auto repeats = static_cast<size_t>(options.limit.value_or(1));
  const InterruptScope interrupts{SIGINT, SIGTERM};
  const Status status =
      ForWindows(static_cast<int64_t>(cells.size() * repeats), "Evaluating", [&](int64_t run) -> Status {
        NeedleCell& cell = cells[static_cast<size_t>(run) / repeats];
        const eval::Needle needle = eval::MakeNeedle(options.seed, static_cast<uint64_t>(run));
        ADIT_ASSIGN_OR_RETURN(const std::vector<int32_t> prompt,
                              eval::NeedlePrompt(tokenizer, haystack, needle, cell.length,
                                                 static_cast<double>(cell.depth_percent) / 100.0));
        ADIT_ASSIGN_OR_RETURN(
            const std::string answer,
            eval::GreedyAnswer(*model.runner, prompt, {.stops = {"\n"}, .max_tokens = kAnswerTokens}));
        cell.found += answer.find(needle.answer) != std::string::npos ? 1 : 0;
        ++cell.asked;
        return Status();
      });
  if (!status.ok()) return Ended(status);
  ADIT_RETURN_IF_ERROR(PrintNeedles(options, cells));
  return kExitOk;
}

}  // namespace adit::cli
