// adit quantize.
#include "cli/quantize_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cpus.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/quantize_report.h"
#include "cli/quantize_run.h"
#include "cli/quantize_target.h"
#include "cli/signals.h"
#include "cli/window_run.h"
#include "engine/gguf_export.h"
#include "engine/model_tokenizer.h"
#include "eval/text_windows.h"
#include "formats/retyped_model.h"
#include "kernels/dispatch.h"
#include "quant/calibrated_model.h"
#include "quant/folder_scheme.h"
#include "quant/importance.h"
#include "quant/layer_rounder.h"
#include "quant/mix.h"
#include "quant/scheme.h"

namespace adit::cli {
namespace {

// What each tensor becomes. The importance of columns outlives the model that is written.
struct Plan {
  std::vector<formats::TensorRetyping> tensors;
  std::map<std::string_view, std::vector<float>> importance;
};

Result<quant::Mix> ReadMix(const QuantizeOptions& options) {
  quant::Mix mix;
  for (const std::string& rule : options.rules) {
    if (const Status added = mix.Add(rule); !added.ok()) {
      return Status(added.code(), "quantize: --tensor-type: " + added.message());
    }
  }
  if (options.mix_file) {
    ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(*options.mix_file));
    ADIT_RETURN_IF_ERROR(mix.AddFile(*options.mix_file, text));
  }
  return mix;
}

bool IsQuantized(DType dtype) { return Traits(dtype).block_elements > 1; }

// With a target the types that nobody chooses are those of F16 files.
const quant::Scheme& SchemeOf(const QuantizeOptions& options) {
  return *quant::FindScheme(options.quality.target_bpw ? "F16" : options.scheme);
}

// The types of the scheme, but for tensors that a rule names.
Result<ChosenTypes> ChooseTypes(const QuantizeOptions& options, const formats::GgufFile& model) {
  ADIT_ASSIGN_OR_RETURN(quant::Mix mix, ReadMix(options));
  const quant::Scheme& scheme = SchemeOf(options);
  ChosenTypes chosen{.types = quant::SchemeTypes(scheme, model, options.importance_file.has_value()), .is_free = {}};
  std::vector<DType>& types = chosen.types;
  for (size_t i = 0; i < types.size(); ++i) {
    const formats::TensorInfo& tensor = model.tensors()[i];
    const bool is_matrix = formats::IsWeightMatrix(tensor) || tensor.name == "token_embd.weight";
    if (options.pure && is_matrix) {
      types[i] = formats::FittingType(scheme.base, tensor.row_elements()).value_or(DType::kF16);
    }
    const DType* ruled = mix.Find(tensor.name);
    chosen.is_free.push_back(is_matrix && ruled == nullptr);
    if (ruled == nullptr) continue;
    if (!is_matrix) {
      return InvalidArgument("quantize: a rule gives '{}' the type {}; only matrices can have others than they have",
                             tensor.name, Traits(*ruled).name);
    }
    types[i] = *ruled;
  }
  if (const std::vector<std::string> unused = mix.Unused(); !unused.empty()) {
    return InvalidArgument("quantize: no tensor has a name that '{}' is found in; adit show --tensors lists them",
                           unused.front());
  }
  return chosen;
}

Status CheckNotQuantized(const QuantizeOptions& options, const formats::GgufFile& model,
                         const std::vector<DType>& types) {
  if (options.requantize) return Status();
  for (size_t i = 0; i < types.size(); ++i) {
    const formats::TensorInfo& tensor = model.tensors()[i];
    if (!IsQuantized(tensor.dtype) || types[i] == tensor.dtype) continue;
    return InvalidArgument(
        "quantize: '{}' of '{}' is {} already, and rounding it again adds errors; take the model in F16, BF16 or F32, "
        "or give --allow-requantize",
        tensor.name, options.model, Traits(tensor.dtype).name);
  }
  return Status();
}

// What is known of the importance of columns, with a note of where it is from.
Result<quant::Importance> ReadImportanceOf(const QuantizeOptions& options, engine::GgufNotes& notes) {
  quant::Importance importance;
  if (!options.importance_file) return importance;
  ADIT_ASSIGN_OR_RETURN(importance, quant::ReadImportance(*options.importance_file));
  const auto text = [](const std::string& value) {
    return formats::GgufValue{.type = formats::GgufType::kString, .value = value};
  };
  const auto number = [](uint64_t value) {
    return formats::GgufValue{.type = formats::GgufType::kU32, .value = value};
  };
  notes.values["quantize.imatrix.file"] = text(*options.importance_file);
  if (!importance.datasets.empty()) notes.values["quantize.imatrix.dataset"] = text(importance.datasets.front());
  notes.values["quantize.imatrix.entries_count"] = number(importance.matrices.size());
  notes.values["quantize.imatrix.chunks_count"] = number(importance.num_chunks);
  return importance;
}

Result<Plan> MakePlan(const QuantizeOptions& options, const formats::GgufFile& model, WorkerTeam& team,
                      engine::GgufNotes& notes) {
  ADIT_ASSIGN_OR_RETURN(ChosenTypes chosen, ChooseTypes(options, model));
  if (!options.quality.target_bpw) ADIT_RETURN_IF_ERROR(CheckNotQuantized(options, model, chosen.types));
  ADIT_ASSIGN_OR_RETURN(const quant::Importance importance, ReadImportanceOf(options, notes));
  Plan plan;
  std::vector<std::span<const float>> known(chosen.types.size());
  for (size_t i = 0; i < known.size() && options.importance_file; ++i) {
    const formats::TensorInfo& tensor = model.tensors()[i];
    ADIT_ASSIGN_OR_RETURN(std::vector<float> means,
                          importance.For(tensor.name, tensor.row_elements(), *options.importance_file));
    if (!means.empty()) known[i] = plan.importance.emplace(tensor.name, std::move(means)).first->second;
  }
  if (options.quality.target_bpw) {
    // What is quantised has to be widened before it can be measured, and then it would be rounded again.
    ADIT_RETURN_IF_ERROR(CheckNotQuantized(options, model, chosen.types));
    ADIT_ASSIGN_OR_RETURN(const quant::CalibrationText text, ReadCalibration(options, model));
    ADIT_ASSIGN_OR_RETURN(chosen.types, TargetTypes(options, chosen, known, text, team));
    notes.file_type = FileTypeOf(model, chosen.types);
  }
  for (size_t i = 0; i < chosen.types.size(); ++i) {
    formats::TensorRetyping retyping{.dtype = chosen.types[i]};
    if (IsQuantized(chosen.types[i]) && chosen.types[i] != model.tensors()[i].dtype) retyping.importance = known[i];
    plan.tensors.push_back(retyping);
  }
  return plan;
}

ModelSizes SizesOf(const formats::GgufFile& model) {
  ModelSizes sizes;
  for (const formats::TensorInfo& tensor : model.tensors()) {
    sizes.bytes += tensor.size_bytes();
    sizes.elements += tensor.num_elements();
    ++sizes.tensors[tensor.dtype];
  }
  return sizes;
}

Status Tell(const ModelSizes& before, const ModelSizes& after) {
  std::string types;
  for (const auto& [dtype, count] : after.tensors) {
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", count, Traits(dtype).name);
  }
  return Stdout().Write(fmt::format("{:.1f} MB at {:.2f} bits a weight, from {:.1f} MB at {:.2f}; tensors: {}\n",
                                    static_cast<double>(after.bytes) / 1e6, after.bits_per_weight(),
                                    static_cast<double>(before.bytes) / 1e6, before.bits_per_weight(), types));
}

Status CheckQuantizeOptions(const QuantizeOptions& options) {
  const QuantizeQualityOptions& quality = options.quality;
  const bool needs_text = NeedsCalibration(options) || quality.target_bpw.has_value();
  if (needs_text && !options.calibration_file) {
    return InvalidArgument(
        "quantize: methods other than rtn, --activations static, and --target-bpw need --calib FILE");
  }
  if (!needs_text && options.calibration_file && !quality.reports()) {
    return InvalidArgument(
        "quantize: rtn has no use for --calib; --method names one that has, and so does --activations static");
  }
  if (options.output.empty() && !quality.reports())
    return InvalidArgument("quantize: OUT, the file to write, is missing");
  if (!quality.reports()) {
    if (options.scheme.empty() && !quality.target_bpw) {
      return InvalidArgument("quantize: TYPE is missing; known are {}, {}", quant::SchemeNames(),
                             quant::FolderTypeNames());
    }
    if (!quality.types.empty() && !quality.target_bpw) {
      return InvalidArgument("quantize: --types are what --target-bpw or --report choose from: neither is given");
    }
  }
  if (!options.scheme.empty()) {
    if (quality.target_bpw || quality.reports()) {
      return InvalidArgument("quantize: TYPE '{}' does not go with --target-bpw and --report, which choose it",
                             options.scheme);
    }
    if (quant::FindScheme(options.scheme) == nullptr && !quant::IsFolderType(options.scheme)) {
      return InvalidArgument("quantize: no type '{}'; known are {}, {}", options.scheme, quant::SchemeNames(),
                             quant::FolderTypeNames());
    }
  }
  if (options.resume_folder && !NeedsCalibration(options)) {
    return InvalidArgument("quantize: --resume is for methods other than rtn, which go layer by layer");
  }
  if (!quant::IsFolderType(options.scheme) &&
      (options.smooth || options.format || options.asymmetric || options.static_inputs)) {
    return InvalidArgument(
        "quantize: --method smoothquant, --format, --asymmetric and --activations are for {}, not for types of GGUF",
        quant::FolderTypeNames());
  }
  return Status();
}

}  // namespace

bool NeedsCalibration(const QuantizeOptions& options) {
  return options.gptq || options.awq || options.smooth || options.static_inputs;
}

Result<quant::CalibrationText> ReadCalibration(const QuantizeOptions& options, const formats::GgufFile& model) {
  ADIT_ASSIGN_OR_RETURN(const std::string text, ReadFileOrStdin(*options.calibration_file));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<tokenizer::Tokenizer> tokenizer, engine::OpenTokenizer(model));
  ADIT_ASSIGN_OR_RETURN(const eval::TextWindows windows,
                        eval::CutText(*tokenizer, text, options.calibration_context, options.calibration_windows));
  quant::CalibrationText out{.window = windows.context};
  for (int64_t i = 0; i < windows.num_windows(); ++i) {
    const std::vector<int32_t> window = windows.Window(i);
    out.tokens.insert(out.tokens.end(), window.begin(), window.end());
  }
  return out;
}

Result<RoundedModel> RoundModel(const QuantizeOptions& options, std::unique_ptr<formats::GgufFile> model,
                                const std::vector<formats::TensorRetyping>& retypings,
                                const quant::FolderScheme* folder, ProgressBar& bar, WorkerTeam& team) {
  const auto show = [&bar](double share) -> Status {
    if (PendingInterrupt() != 0) return Cancelled("quantize: interrupted");
    bar.Update(share);
    return Status();
  };
  RoundedModel rounded{.model = nullptr, .hooks = {}, .finished = [] {}};
  if (!NeedsCalibration(options)) {
    ADIT_ASSIGN_OR_RETURN(rounded.model, formats::Retyped(std::move(model), retypings));
    rounded.hooks.progress = show;
    return rounded;
  }
  ADIT_ASSIGN_OR_RETURN(quant::CalibrationText text, ReadCalibration(options, *model));
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels("auto"));
  const quant::RoundingOptions rounding{.gptq = options.gptq,
                                        .awq = options.awq,
                                        .smooth = options.smooth,
                                        .keeps_largest = options.static_inputs,
                                        .groups = folder != nullptr ? folder->groups : std::nullopt,
                                        .fp8 = folder != nullptr && folder->fp8 ? *folder->fp8 : quant::Fp8Blocks{},
                                        .gptq_options = {}};
  ADIT_ASSIGN_OR_RETURN(
      std::unique_ptr<quant::CalibratedModel> calibrated,
      quant::CalibratedModel::Create(
          std::move(model), retypings, std::move(text),
          {.rounding = rounding, .resume_folder = options.resume_folder.value_or(""), .progress = show}, *kernels,
          team));
  rounded.finished = [&calibrated = *calibrated] { calibrated.RemoveKeptLayers(); };
  rounded.hooks.prepare = [&calibrated = *calibrated](const formats::TensorInfo& tensor) {
    return calibrated.Prepare(tensor);
  };
  if (options.static_inputs) {
    rounded.hooks.largest_input = [&calibrated = *calibrated](const formats::TensorInfo& tensor) {
      return calibrated.LargestInput(tensor);
    };
  }
  rounded.model = std::move(calibrated);
  return rounded;
}

Result<QuantizedFile> QuantizeFile(const QuantizeOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> model, OpenModel(options.model));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team,
                        WorkerTeam::Create(options.threads.value_or(NumAvailableCpus())));
  engine::GgufNotes notes{
      .file_type = SchemeOf(options).file_type, .values = {}, .max_part_bytes = options.max_part_bytes};
  ADIT_ASSIGN_OR_RETURN(const Plan plan, MakePlan(options, *model, *team, notes));
  QuantizedFile sizes{.before = SizesOf(*model), .after = {}};
  if (options.dry_run) {
    ADIT_ASSIGN_OR_RETURN(model, formats::Retyped(std::move(model), plan.tensors));
    sizes.after = SizesOf(*model);
    return sizes;
  }
  ProgressBar bar(Stderr(), "Quantising");
  ADIT_ASSIGN_OR_RETURN(const RoundedModel rounded,
                        RoundModel(options, std::move(model), plan.tensors, /*folder=*/nullptr, bar, *team));
  const Status written = engine::WriteGguf(*rounded.model, options.output, notes, *team, rounded.hooks);
  if (written.code() == StatusCode::kCancelled) return written;
  if (!written.ok()) return InsideModel(written);
  rounded.finished();
  sizes.after = SizesOf(*rounded.model);
  return sizes;
}

Result<int> Run(const QuantizeOptions& options) {
  ADIT_RETURN_IF_ERROR(CheckQuantizeOptions(options));
  if (quant::IsFolderType(options.scheme)) {
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> model, OpenModel(options.model));
    return QuantizeToFolder(options, std::move(model));
  }
  const InterruptScope interrupts{SIGINT, SIGTERM};
  if (options.quality.reports()) return RunQuantizeReport(options);
  const Result<QuantizedFile> sizes = QuantizeFile(options);
  if (!sizes.ok()) return Ended(sizes.status());
  ADIT_RETURN_IF_ERROR(Tell(sizes->before, sizes->after));
  return kExitOk;
}

}  // namespace adit::cli
