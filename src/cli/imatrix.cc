// adit imatrix.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

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
#include "eval/text_windows.h"
#include "quant/activation_squares.h"
#include "quant/importance.h"

namespace adit::cli {
namespace {

// All of a window at once: what is wanted is what its matrices are multiplied with.
Status RunWholeWindow(engine::ModelRunner& runner, const std::vector<int32_t>& tokens, bool is_long) {
  engine::SequenceCache sequence = runner.NewSequence();
  const engine::SequenceStep step{
      .sequence = &sequence, .tokens = tokens, .is_long = is_long, .logits = engine::LogitsWanted::kNone};
  return runner.Run(std::span(&step, 1)).status();
}

}  // namespace

Result<int> Run(const ImatrixOptions& options) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(options.file));
  const models::ModelSpec& spec = model->spec();
  const int64_t context = options.context.value_or(kDefaultWindow);
  if (context > spec.context_length) {
    return InvalidArgument("imatrix: windows of {} tokens, the context of '{}' is {}; --ctx makes them shorter",
                           context, options.model, spec.context_length);
  }
  ADIT_ASSIGN_OR_RETURN(const eval::TextWindows windows,
                        eval::CutText(model->tokenizer(), text, context, options.limit));
  quant::ActivationSquares squares(model->weights());
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(
      const std::unique_ptr<engine::ModelRunner> runner,
      engine::ModelRunner::Create(
          *model, {.kv_types = kv_types, .kv_tokens = context, .max_batch_tokens = context, .observer = &squares}));
  const InterruptScope interrupts{SIGINT, SIGTERM};
  const Status status = ForWindows(windows.num_windows(), "Observing", [&](int64_t window) {
    return RunWholeWindow(*runner, windows.Window(window), spec.IsLong(context));
  });
  if (!status.ok()) return Ended(status);
  ADIT_ASSIGN_OR_RETURN(quant::Importance importance, squares.Sums());
  importance.datasets.push_back(options.file == "-" ? "stdin"
                                                    : std::filesystem::path(options.file).filename().string());
  importance.num_chunks = static_cast<uint64_t>(windows.num_windows());
  importance.chunk_size = static_cast<uint64_t>(context);
  ADIT_RETURN_IF_ERROR(quant::WriteImportance(importance, options.output));
  ADIT_RETURN_IF_ERROR(
      Stdout().Write(fmt::format("{} matrices, {} tokens in windows of {}\n", importance.matrices.size(),
                                 windows.num_windows() * context, context)));
  return kExitOk;
}

}  // namespace adit::cli
