// adit quantize.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker_team.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/quantize_run.h"
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

// The types of the scheme, but for tensors that a rule names.
Result<std::vector<DType>> ChosenTypes(const QuantizeOptions& options, const formats::GgufFile& model) {
  ADIT_ASSIGN_OR_RETURN(quant::Mix mix, ReadMix(options));
  const quant::Scheme& scheme = *quant::FindScheme(options.scheme);
  std::vector<DType> types = quant::SchemeTypes(scheme, model, options.importance_file.has_value());
  for (size_t i = 0; i < types.size(); ++i) {
    const formats::TensorInfo& tensor = model.tensors()[i];
    const bool is_matrix = formats::IsWeightMatrix(tensor) || tensor.name == "token_embd.weight";
    if (options.pure && is_matrix) {
      types[i] = formats::FittingType(scheme.base, tensor.row_elements()).value_or(DType::kF16);
    }
    const DType* ruled = mix.Find(tensor.name);
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
  return types;
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

Result<Plan> MakePlan(const QuantizeOptions& options, const formats::GgufFile& model, engine::GgufNotes& notes) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<DType> types, ChosenTypes(options, model));
  ADIT_RETURN_IF_ERROR(CheckNotQuantized(options, model, types));
  quant::Importance importance;
  if (options.importance_file) {
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
  }
  Plan plan;
  for (size_t i = 0; i < types.size(); ++i) {
    const formats::TensorInfo& tensor = model.tensors()[i];
    formats::TensorRetyping retyping{.dtype = types[i]};
    if (options.importance_file && IsQuantized(types[i]) && types[i] != tensor.dtype) {
      ADIT_ASSIGN_OR_RETURN(std::vector<float> means,
                            importance.For(tensor.name, tensor.row_elements(), *options.importance_file));
      if (!means.empty()) retyping.importance = plan.importance.emplace(tensor.name, std::move(means)).first->second;
    }
    plan.tensors.push_back(retyping);
  }
  return plan;
}

struct Sizes {
  size_t bytes = 0;
  int64_t elements = 0;
  std::map<DType, int64_t> tensors;  // of each type

  double bits_per_weight() const { return 8.0 * static_cast<double>(bytes) / static_cast<double>(elements); }
};

Sizes SizesOf(const formats::GgufFile& model) {
  Sizes sizes;
  for (const formats::TensorInfo& tensor : model.tensors()) {
    sizes.bytes += tensor.size_bytes();
    sizes.elements += tensor.num_elements();
    ++sizes.tensors[tensor.dtype];
  }
  return sizes;
}

Status Tell(const Sizes& before, const Sizes& after) {
  std::string types;
  for (const auto& [dtype, count] : after.tensors) {
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", count, Traits(dtype).name);
  }
  return Stdout().Write(fmt::format("{:.1f} MB at {:.2f} bits a weight, from {:.1f} MB at {:.2f}; tensors: {}\n",
                                    static_cast<double>(after.bytes) / 1e6, after.bits_per_weight(),
                                    static_cast<double>(before.bytes) / 1e6, before.bits_per_weight(), types));
}

}  // namespace

bool NeedsCalibration(const QuantizeOptions& options) { return options.gptq || options.awq || options.smooth; }

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

Result<int> Run(const QuantizeOptions& options) {
  const bool calibrated_method = NeedsCalibration(options);
  if (calibrated_method != options.calibration_file.has_value()) {
    return InvalidArgument("quantize: methods other than rtn need --calib FILE, which rtn has no use for");
  }
  if (options.resume_folder && !calibrated_method) {
    return InvalidArgument("quantize: --resume is for methods other than rtn, which go layer by layer");
  }
  if (quant::FindScheme(options.scheme) == nullptr && !quant::IsFolderType(options.scheme)) {
    return InvalidArgument("quantize: no type '{}'; known are {}, {}", options.scheme, quant::SchemeNames(),
                           quant::FolderTypeNames());
  }
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<formats::GgufFile> model, OpenModel(options.model));
  if (quant::IsFolderType(options.scheme)) return QuantizeToFolder(options, std::move(model));
  if (options.smooth || options.format || options.asymmetric) {
    return InvalidArgument("quantize: --method smoothquant, --format and --asymmetric are for {}; {} is a type of GGUF",
                           quant::FolderTypeNames(), options.scheme);
  }
  engine::GgufNotes notes{.file_type = quant::FindScheme(options.scheme)->file_type,
                          .values = {},
                          .max_part_bytes = options.max_part_bytes};
  ADIT_ASSIGN_OR_RETURN(const Plan plan, MakePlan(options, *model, notes));
  const Sizes before = SizesOf(*model);
  if (options.dry_run) {
    ADIT_ASSIGN_OR_RETURN(model, formats::Retyped(std::move(model), plan.tensors));
    ADIT_RETURN_IF_ERROR(Tell(before, SizesOf(*model)));
    return kExitOk;
  }
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team,
                        WorkerTeam::Create(options.threads.value_or(NumAvailableCpus())));
  ProgressBar bar(Stderr(), "Quantising");
  const InterruptScope interrupts{SIGINT, SIGTERM};
  const auto show = [&bar](double share) -> Status {
    if (PendingInterrupt() != 0) return Cancelled("quantize: interrupted");
    bar.Update(share);
    return Status();
  };
  engine::ExportHooks hooks;
  std::function<void()> finished = [] {};
  if (calibrated_method) {
    ADIT_ASSIGN_OR_RETURN(quant::CalibrationText text, ReadCalibration(options, *model));
    ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels("auto"));
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<quant::CalibratedModel> calibrated,
                          quant::CalibratedModel::Create(
                              std::move(model), plan.tensors, std::move(text),
                              {.rounding = {.gptq = options.gptq, .awq = options.awq, .groups = {}, .gptq_options = {}},
                               .resume_folder = options.resume_folder.value_or(""),
                               .progress = show},
                              *kernels, *team));
    finished = [&calibrated = *calibrated] { calibrated.RemoveKeptLayers(); };
    hooks.prepare = [&calibrated = *calibrated](const formats::TensorInfo& tensor) {
      return calibrated.Prepare(tensor);
    };
    model = std::move(calibrated);
  } else {
    ADIT_ASSIGN_OR_RETURN(model, formats::Retyped(std::move(model), plan.tensors));
    hooks.progress = show;
  }
  const Status written = engine::WriteGguf(*model, options.output, notes, *team, hooks);
  if (written.code() == StatusCode::kCancelled) return Ended(written);
  if (!written.ok()) return InsideModel(written);
  finished();
  ADIT_RETURN_IF_ERROR(Tell(before, SizesOf(*model)));
  return kExitOk;
}

}  // namespace adit::cli
