#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/model_file.h"
#include "cli/model_summary.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/quality_report.h"
#include "cli/show_json.h"
#include "cli/units.h"
#include "formats/ggml_type.h"

namespace adit::cli {
namespace {

constexpr size_t kMaxValueBytes = 100;
constexpr size_t kTemplateLines = 4;

std::string Row(std::string_view label, std::string_view text) { return fmt::format("{:<15} {}\n", label, text); }

// A string of the file, if it is there.
std::string OptionalRow(std::string_view label, std::string_view text) {
  return text.empty() ? std::string() : Row(label, OneLine(text, kMaxValueBytes));
}

std::string TokenizerText(const TokenizerSummary& tokenizer) {
  if (!tokenizer.error.empty()) return "not supported: " + OneLine(tokenizer.error);
  std::string text = fmt::format("{}, {} tokens", OneLine(tokenizer.description), tokenizer.num_tokens);
  if (tokenizer.bos_id) text += fmt::format(", BOS {}{}", *tokenizer.bos_id, tokenizer.adds_bos ? " (added)" : "");
  if (tokenizer.eos_id) text += fmt::format(", EOS {}{}", *tokenizer.eos_id, tokenizer.adds_eos ? " (added)" : "");
  return text;
}

// The first lines, each cut to a width.
std::string TemplateText(std::string_view chat_template) {
  if (chat_template.empty()) return Row("chat template", "none");
  std::string text = Row("chat template", fmt::format("{} bytes; --template prints it:", chat_template.size()));
  for (size_t i = 0; i < kTemplateLines && !chat_template.empty(); ++i) {
    const std::string_view line = chat_template.substr(0, chat_template.find('\n'));
    text += "                  " + OneLine(line, kMaxValueBytes) + "\n";
    chat_template.remove_prefix(std::min(line.size() + 1, chat_template.size()));
  }
  return text;
}

// What adit quantize --report has measured of it.
std::string QualityRows(const formats::GgufFile& file) {
  const std::optional<KeptQuality> kept = ReadQuality(file.metadata());
  if (!kept) return {};
  const QualityFigures& figures = kept->figures;
  return Row("quality",
             fmt::format("KL divergence {:.5f} nats (p99 {:.4f}), same top token {:.2f} %, perplexity {:.3f} "
                         "for {:.3f}, on {}",
                         figures.mean_kld, figures.p99_kld, 100.0 * figures.same_top, figures.perplexity,
                         kept->base_perplexity, OneLine(kept->text, kMaxValueBytes))) +
         Row("speed", fmt::format("prefill {:.1f} tok/s, decode {:.1f} tok/s, peak memory {}, on {}",
                                  figures.prefill_tokens_per_s, figures.decode_tokens_per_s,
                                  FormatBytes(figures.peak_bytes), OneLine(kept->processor, kMaxValueBytes)));
}

std::string SummaryText(const formats::GgufFile& file, const ModelSummary& summary) {
  std::string text = OptionalRow("architecture", summary.architecture) + OptionalRow("name", summary.name);
  text += Row("parameters", FormatCount(summary.num_parameters));
  for (const Hyperparameter& row : summary.hyperparameters) text += OptionalRow(row.label, row.text);
  text += Row("file", fmt::format("{}, {}", FormatBytes(static_cast<int64_t>(file.size_bytes())), file.Format()));
  if (summary.num_parameters > 0) {
    text += Row("weights", fmt::format("{}, {:.2f} bits each", FormatBytes(summary.tensor_bytes),
                                       static_cast<double>(summary.tensor_bytes) * 8 /
                                           static_cast<double>(summary.num_parameters)));
  }
  for (const TensorTypeUse& use : summary.types) {
    text += Row("  " + std::string(use.type),
                fmt::format("{:>10}   {} {}, {} parameters", FormatBytes(use.size_bytes), use.num_tensors,
                            use.num_tensors == 1 ? "tensor" : "tensors", FormatCount(use.num_elements)));
  }
  text += QualityRows(file);
  text += Row("tokenizer", TokenizerText(summary.tokenizer));
  text += TemplateText(summary.chat_template);
  text += OptionalRow("licence", summary.license.empty() ? "not stated" : summary.license);
  text += OptionalRow("licence text", summary.license_link);
  text += Row("runs here", summary.cannot_run.empty() ? "yes" : "no: " + OneLine(summary.cannot_run));
  return text;
}

std::string TensorsText(const formats::GgufFile& file) {
  size_t name_width = 0;
  for (const formats::TensorInfo& tensor : file.tensors()) name_width = std::max(name_width, tensor.name.size());
  std::string text;
  for (const formats::TensorInfo& tensor : file.tensors()) {
    text += fmt::format("{:<{}}  {:<7} {:>10}  {}\n", OneLine(tensor.name), name_width,
                        formats::GgmlTypeOf(tensor.dtype).name, FormatBytes(static_cast<int64_t>(tensor.size_bytes())),
                        ShapeText(tensor));
  }
  return text;
}

std::string MetadataText(const formats::GgufFile& file) {
  std::string text;
  for (const auto& [key, value] : file.metadata().values()) {
    text += fmt::format("{} = {}\n", OneLine(key), ValueText(value, kMaxValueBytes));
  }
  return text;
}

}  // namespace

Result<int> Run(const ShowOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, OpenModel(options.model));
  const ModelSummary summary = Summarize(*file);
  if (options.json) {
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(ModelJson(*file, summary, /*whole_arrays=*/options.metadata)));
    return kExitOk;
  }
  if (options.chat_template) {
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(summary.chat_template));
    if (Stdout().is_terminal()) ADIT_RETURN_IF_ERROR(Stdout().Write("\n"));
    return kExitOk;
  }
  std::string text;
  if (!options.tensors && !options.metadata) text = SummaryText(*file, summary);
  if (options.tensors) text += TensorsText(*file);
  if (options.metadata) text += MetadataText(*file);
  ADIT_RETURN_IF_ERROR(Stdout().Write(text));
  return kExitOk;
}

}  // namespace adit::cli
