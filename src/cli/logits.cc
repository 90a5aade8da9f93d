#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"
#include "cli/units.h"
#include "engine/model_runner.h"
#include "formats/safetensors_writer.h"

namespace adit::cli {
namespace {

// Tokens of one pass when --chunk is absent: fewer where the logits of all positions are wanted and the vocabulary is
// so large that those of one pass would take more memory than this.
constexpr int64_t kDefaultChunk = 512;
constexpr int64_t kMaxLogitBytes = int64_t{128} << 20;

int64_t ChunkOf(const LogitsOptions& options, int64_t vocab_size) {
  if (options.chunk) return *options.chunk;
  if (!options.all) return kDefaultChunk;
  return std::clamp<int64_t>(kMaxLogitBytes / (vocab_size * int64_t{sizeof(float)}), 1, kDefaultChunk);
}

Result<std::vector<int32_t>> TokensOf(const LogitsOptions& options) {
  std::string text;
  if (options.tokens) {
    text = *options.tokens;
  } else {
    ADIT_ASSIGN_OR_RETURN(text, ReadFileOrStdin(*options.tokens_file));
  }
  ADIT_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, ParseIds(text));
  if (tokens.empty()) return InvalidArgument("logits: no tokens given");
  return tokens;
}

Status CheckTokens(std::span<const int32_t> tokens, const models::ModelSpec& spec) {
  if (static_cast<int64_t>(tokens.size()) > spec.context_length) {
    return InvalidArgument("logits: {} tokens, the model's context is {}", tokens.size(), spec.context_length);
  }
  for (const int32_t token : tokens) {
    if (token >= spec.vocab_size)
      return InvalidArgument("logits: token {} is not in 0..{}", token, spec.vocab_size - 1);
  }
  return Status();
}

// Runs the tokens in chunks and writes the wanted rows. Cancelled when a signal comes.
Status WriteLogits(engine::ModelRunner& runner, std::span<const int32_t> tokens, bool all,
                   formats::SafetensorsWriter& writer) {
  ProgressBar bar(Stderr(), "Computing");
  engine::SequenceCache sequence = runner.NewSequence();
  const bool is_long = runner.model().spec().IsLong(static_cast<int64_t>(tokens.size()));
  std::span<const int32_t> rest = tokens;
  while (!rest.empty()) {
    if (PendingInterrupt() != 0) return Cancelled("logits: interrupted");
    const auto chunk = rest.first(std::min(rest.size(), static_cast<size_t>(runner.max_batch_tokens())));
    rest = rest.subspan(chunk.size());
    const engine::LogitsWanted last = rest.empty() ? engine::LogitsWanted::kLast : engine::LogitsWanted::kNone;
    const engine::SequenceStep step{
        .sequence = &sequence, .tokens = chunk, .is_long = is_long, .logits = all ? engine::LogitsWanted::kAll : last};
    ADIT_ASSIGN_OR_RETURN(const std::span<const float> logits, runner.Run(std::span(&step, 1)));
    ADIT_RETURN_IF_ERROR(writer.Append(logits));
    bar.Update(1.0 - static_cast<double>(rest.size()) / static_cast<double>(tokens.size()));
  }
  return writer.Finish();
}

}  // namespace

Result<int> Run(const LogitsOptions& options) {
  ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
  ADIT_ASSIGN_OR_RETURN(const std::vector<int32_t> tokens, TokensOf(options));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  const models::ModelSpec& spec = model->spec();
  ADIT_RETURN_IF_ERROR(CheckTokens(tokens, spec));
  const int64_t num_tokens = static_cast<int64_t>(tokens.size());
  const int64_t chunk = std::min(ChunkOf(options, spec.vocab_size), num_tokens);
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(
      const std::unique_ptr<engine::ModelRunner> runner,
      engine::ModelRunner::Create(*model, {.kv_types = kv_types, .kv_tokens = num_tokens, .max_batch_tokens = chunk}));
  // From here on a signal must not leave a half-written file.
  const InterruptScope interrupts{SIGINT, SIGTERM};
  const int64_t shape[] = {options.all ? num_tokens : 1, spec.vocab_size};
  ADIT_ASSIGN_OR_RETURN(formats::SafetensorsWriter writer,
                        formats::SafetensorsWriter::Create(options.output, "logits", shape));
  const Status status = WriteLogits(*runner, tokens, options.all, writer);
  if (status.code() == StatusCode::kCancelled) return kExitSignalBase + PendingInterrupt();
  if (!status.ok()) return status;
  return kExitOk;
}

}  // namespace adit::cli
