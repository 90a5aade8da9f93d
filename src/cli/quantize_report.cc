#include "cli/quantize_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cpus.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/machine_bench.h"
#include "cli/model_file.h"
#include "cli/model_timer.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/quality_report.h"
#include "cli/quantize_file.h"
#include "cli/quantize_target.h"
#include "cli/signals.h"
#include "cli/window_run.h"
#include "engine/gguf_export.h"
#include "engine/machine.h"
#include "eval/base_logits.h"
#include "eval/statistics.h"
#include "eval/text_windows.h"
#include "formats/atomic_file.h"
#include "kernels/dispatch.h"
#include "plan/cpu_load.h"
#include "quant/scheme.h"
#include "quant/target_mix.h"

namespace adit::cli {
namespace {

const std::vector<std::string>& UsualTypes() {
  static const auto* types =
      new std::vector<std::string>{"Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "Q2_K"};
  return *types;
}

constexpr int64_t kPromptTokens = 512;
constexpr int64_t kGenTokens = 64;
constexpr int kRepetitions = 3;
// Sensitivity of layers is measured on this much of the text.
constexpr int64_t kProbeWindows = 4;
constexpr int64_t kProbeTokens = 256;

// A file of a name that goes when this does.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status WriteWhole(const std::string& path, const std::string& text) {
  ADIT_ASSIGN_OR_RETURN(formats::AtomicFile file, formats::AtomicFile::Create(path, "report"));
  ADIT_RETURN_IF_ERROR(file.Write(text.data(), text.size()));
  return file.Finish();
}

class QualityMeasurement {
 public:
  explicit QualityMeasurement(const QuantizeOptions& options)
      : options_(options),
        quality_(options.quality),
        stem_(!options.output.empty() ? options.output
              : quality_.report       ? *quality_.report
                                      : *quality_.json),
        base_file_(stem_ + ".base-logits"),
        candidate_file_(stem_ + ".candidate.gguf"),
        chosen_file_(stem_ + ".chosen.gguf") {
    engine_.threads = options.threads;
  }

  Status Run();
  const QualityReport& report() const { return report_; }

 private:
  QuantizeOptions ForType(const std::string& type, const std::string& output) const;
  Status CheckTypes();
  Status ReadWindows();
  Status MeasureBase();
  Status MeasureCandidate(const std::string& type);
  Status MeasureSpeed(const engine::LoadedModel& model, QualityFigures& figures);
  Status MeasureLayers();
  Status WriteReports();
  Status WriteChosen();
  Result<std::unique_ptr<engine::ModelRunner>> RunnerFor(const engine::LoadedModel& model) const;

  const QuantizeOptions& options_;
  const QuantizeQualityOptions& quality_;
  const std::string stem_;
  TemporaryFile base_file_;
  TemporaryFile candidate_file_;
  TemporaryFile chosen_file_;  // of kept_type_, where a file is wanted
  std::string kept_type_;      // the best candidate so far
  EngineOptions engine_;
  plan::ForeignLoad load_;
  std::vector<std::string> types_;
  std::string text_;
  eval::TextWindows windows_;
  QualityReport report_;
};

// What makes one candidate.
QuantizeOptions QualityMeasurement::ForType(const std::string& type, const std::string& output) const {
  QuantizeOptions one = options_;
  one.scheme = type;
  one.output = output;
  one.quality = {};
  return one;
}

// Whatever would end one of them ends all before anything is measured.
Status QualityMeasurement::CheckTypes() {
  types_ = quality_.types.empty() ? UsualTypes() : quality_.types;
  for (std::string& type : types_) {
    const quant::Scheme* scheme = quant::FindScheme(type);
    if (scheme == nullptr) {
      return InvalidArgument("quantize: --types: no type '{}'; known are {}", type, quant::SchemeNames());
    }
    type = scheme->name;
    QuantizeOptions one = ForType(type, candidate_file_.path());
    one.dry_run = true;
    ADIT_RETURN_IF_ERROR(QuantizeFile(one).status());
  }
  return Status();
}

Result<std::unique_ptr<engine::ModelRunner>> QualityMeasurement::RunnerFor(const engine::LoadedModel& model) const {
  const int64_t rows = eval::PassTokens(model.spec().vocab_size, windows_.context);
  return engine::ModelRunner::Create(
      model, {.kv_types = {}, .kv_tokens = windows_.context, .max_batch_tokens = rows, .observer = nullptr});
}

Status QualityMeasurement::MeasureSpeed(const engine::LoadedModel& model, QualityFigures& figures) {
  const int64_t room = model.spec().context_length;
  ModelTest prefill{.num_prompt = std::min(kPromptTokens, room), .tokens_per_s = {}};
  ModelTest decode{.num_gen = std::min(kGenTokens, room), .tokens_per_s = {}};
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::ModelRunner> runner,
                        engine::ModelRunner::Create(model, {.kv_types = {},
                                                            .kv_tokens = prefill.num_prompt + 16,
                                                            .max_batch_tokens = prefill.num_prompt,
                                                            .observer = nullptr}));
  ModelTimer timer(*runner, /*seed=*/1);
  for (int i = 0; i <= kRepetitions; ++i) {
    for (ModelTest* test : {&prefill, &decode}) {
      if (PendingInterrupt() != 0) return Cancelled("quantize: interrupted");
      ADIT_ASSIGN_OR_RETURN(const double seconds, timer.Time(*test));
      // The first warms up.
      if (i > 0) test->tokens_per_s.push_back(static_cast<double>(test->tokens()) / seconds);
    }
  }
  figures.prefill_tokens_per_s = SpreadOf(prefill.tokens_per_s).median;
  figures.decode_tokens_per_s = SpreadOf(decode.tokens_per_s).median;
  figures.peak_bytes = engine::PeakResidentBytes();
  return Status();
}

// The size of the tensors in a file, and the bits that a weight takes.
Status AddSizes(const std::string& path, QualityFigures& figures) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, OpenModel(path));
  size_t bytes = 0;
  int64_t elements = 0;
  for (const formats::TensorInfo& tensor : file->tensors()) {
    bytes += tensor.size_bytes();
    elements += tensor.num_elements();
  }
  figures.bits_per_weight = 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
  figures.file_bytes = static_cast<int64_t>(file->size_bytes());
  return Status();
}

Status QualityMeasurement::ReadWindows() {
  const std::string& path = quality_.file.empty() ? *options_.calibration_file : quality_.file;
  ADIT_ASSIGN_OR_RETURN(text_, ReadFileOrStdin(path));
  report_.settings = {{"text", path == "-" ? std::string("stdin") : std::filesystem::path(path).filename().string()}};
  return Status();
}

Status QualityMeasurement::MeasureBase() {
  QualityFigures& figures = report_.base;
  figures.type = "as it was";
  ADIT_RETURN_IF_ERROR(AddSizes(options_.model, figures));
  engine::ResetPeakResident();
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options_.model, engine_));
  const int64_t context = std::min(quality_.context, model->spec().context_length);
  ADIT_ASSIGN_OR_RETURN(windows_, eval::CutText(model->tokenizer(), text_, context, quality_.windows));
  ADIT_RETURN_IF_ERROR(MeasureSpeed(*model, figures));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::ModelRunner> runner, RunnerFor(*model));
  ADIT_ASSIGN_OR_RETURN(eval::BaseLogitsWriter writer,
                        eval::BaseLogitsWriter::Create(base_file_.path(), windows_, model->spec().vocab_size));
  eval::Perplexity perplexity;
  Status written;
  const Status run = ForWindows(windows_.num_windows(), "The model as it was", [&](int64_t window) -> Status {
    ADIT_RETURN_IF_ERROR(eval::RunWindow(*runner, windows_, window, [&](std::span<const float> logits, int32_t next) {
      perplexity.Add(eval::LogSumExp(logits) - static_cast<double>(logits[static_cast<size_t>(next)]));
      if (written.ok()) written = writer.Append(logits);
    }));
    return written;
  });
  ADIT_RETURN_IF_ERROR(run);
  figures.perplexity = perplexity.value();
  return writer.Finish();
}

Status QualityMeasurement::MeasureCandidate(const std::string& type) {
  ADIT_RETURN_IF_ERROR(QuantizeFile(ForType(type, candidate_file_.path())).status());
  QualityFigures figures{.type = type, .layer_kld = {}};
  ADIT_RETURN_IF_ERROR(AddSizes(candidate_file_.path(), figures));
  engine::ResetPeakResident();
  {
    ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(candidate_file_.path(), engine_));
    ADIT_RETURN_IF_ERROR(MeasureSpeed(*model, figures));
    ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::ModelRunner> runner, RunnerFor(*model));
    ADIT_ASSIGN_OR_RETURN(const eval::BaseLogits base, eval::BaseLogits::Open(base_file_.path()));
    eval::Divergence divergence(eval::BaseLogits::kLeast);
    std::vector<float> base_row(static_cast<size_t>(base.vocab_size()));
    const Status run = ForWindows(windows_.num_windows(), "Judging " + type, [&](int64_t window) {
      int64_t row = 0;
      return eval::RunWindow(*runner, windows_, window, [&](std::span<const float> logits, int32_t next) {
        base.ReadRow(window, row++, base_row);
        divergence.Add(base_row, logits, next);
      });
    });
    ADIT_RETURN_IF_ERROR(run);
    figures.perplexity = divergence.perplexity().value();
    figures.mean_kld = divergence.divergence().mean();
    figures.p99_kld = divergence.DivergenceQuantile(0.99);
    figures.same_top = divergence.same_top().mean();
  }
  report_.candidates.push_back(std::move(figures));
  // Most often the best so far is the best of all; else it is made again.
  if (!options_.output.empty() && Recommend(report_) == report_.candidates.size() - 1) {
    std::error_code error;
    std::filesystem::rename(candidate_file_.path(), chosen_file_.path(), error);
    if (error) return Io("quantize: {}: {}", chosen_file_.path(), error.message());
    kept_type_ = type;
  }
  return Status();
}

// Layers are measured with the type of the candidates in the middle; the others follow from their errors.
Status QualityMeasurement::MeasureLayers() {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> model, OpenWide(options_.model));
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels(ChosenIsa(engine_)));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team,
                        WorkerTeam::Create(options_.threads.value_or(NumAvailableCpus())));
  const auto types_of = [&](const std::string& type) {
    std::vector<formats::TensorRetyping> types;
    for (const DType dtype : quant::SchemeTypes(*quant::FindScheme(type), *model, false)) {
      types.push_back({.dtype = dtype, .importance = {}});
    }
    return types;
  };
  const std::vector<formats::TensorRetyping> probes = types_of(types_[types_.size() / 2]);
  quant::CalibrationText text{.tokens = {}, .window = std::min(kProbeTokens, windows_.context)};
  for (int64_t i = 0; i < std::min(kProbeWindows, windows_.num_windows()); ++i) {
    const std::vector<int32_t> window = windows_.Window(i);
    text.tokens.insert(text.tokens.end(), window.begin(), window.begin() + text.window);
  }
  ProgressBar bar(Stderr(), "Sensitivity of layers");
  const quant::SensitivityOptions measuring{.progress = [&bar](double share) -> Status {
    if (PendingInterrupt() != 0) return Cancelled("quantize: interrupted");
    bar.Update(share);
    return Status();
  }};
  ADIT_ASSIGN_OR_RETURN(const quant::Sensitivity sensitivity,
                        quant::MeasureSensitivity(*model, probes, text, measuring, {*kernels, *team}));
  for (QualityFigures& candidate : report_.candidates) {
    candidate.layer_kld = quant::PredictLayerKld(*model, sensitivity, probes, types_of(candidate.type), *team);
  }
  return Status();
}

Status QualityMeasurement::WriteReports() {
  if (quality_.report) ADIT_RETURN_IF_ERROR(WriteWhole(*quality_.report, QualityHtml(report_)));
  if (quality_.json) ADIT_RETURN_IF_ERROR(WriteWhole(*quality_.json, QualityJson(report_)));
  return Stdout().Write(QualityText(report_));
}

// The chosen file, with its figures.
Status QualityMeasurement::WriteChosen() {
  const std::optional<size_t> best = Recommend(report_);
  if (!best)
    return FailedPrecondition("quantize: '{}' is not written: {}", options_.output, RecommendationText(report_));
  const std::string& type = report_.candidates[*best].type;
  if (kept_type_ != type) ADIT_RETURN_IF_ERROR(QuantizeFile(ForType(type, chosen_file_.path())).status());
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, OpenModel(chosen_file_.path()));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team, WorkerTeam::Create(1));
  const engine::GgufNotes notes{.file_type = std::nullopt, .values = QualityValues(report_, report_.candidates[*best])};
  return engine::WriteGguf(*file, options_.output, notes, *team, {});
}

Status QualityMeasurement::Run() {
  report_.model = options_.model;
  report_.goal = *ParseQualityGoal(quality_.goal);
  report_.max_kld = quality_.max_kld;
  ADIT_RETURN_IF_ERROR(CheckTypes());
  ADIT_RETURN_IF_ERROR(ReadWindows());
  ADIT_RETURN_IF_ERROR(MeasureBase());
  for (const std::string& type : types_) ADIT_RETURN_IF_ERROR(MeasureCandidate(type));
  ADIT_RETURN_IF_ERROR(MeasureLayers());
  const std::string method = options_.awq ? (options_.gptq ? "awq-gptq" : "awq") : options_.gptq ? "gptq" : "rtn";
  report_.settings.insert(report_.settings.end(),
                          {{"windows", windows_.num_windows()},
                           {"context", windows_.context},
                           {"method", method},
                           {"goal", quality_.goal},
                           {"max_kld", quality_.max_kld},
                           {"threads", int64_t{options_.threads.value_or(NumAvailableCpus())}}});
  const std::vector<BenchSetting> machine = MachineSettings();
  report_.settings.insert(report_.settings.end(), machine.begin(), machine.end());
  report_.settings.push_back(OtherLoad(load_));
  ADIT_RETURN_IF_ERROR(WriteReports());
  return options_.output.empty() ? Status() : WriteChosen();
}

}  // namespace

Result<int> RunQuantizeReport(const QuantizeOptions& options) {
  if (options.quality.file.empty() && !options.calibration_file) {
    return InvalidArgument("quantize: a report needs a text to judge by: -f FILE");
  }
  return Ended(QualityMeasurement(options).Run());
}

}  // namespace adit::cli
