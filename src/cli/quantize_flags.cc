// Flags of the commands that make models smaller.
#include <charconv>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "cli/command_flags.h"
#include "quant/folder_scheme.h"
#include "quant/scheme.h"

namespace adit::cli {
namespace {

// Of types that are written as Hugging Face folders.
void AddFolderTypes(CLI::App& app, QuantizeOptions& out) {
  AddWord(
      app, "--format", {"compressed-tensors", "gptq", "awq", "fp8"},
      [&out](const std::string& format) { out.format = format; },
      "How a folder holds them; gptq and awq: W4A16 and, for gptq, W2A16, W3A16 and W8A16 [compressed-tensors]",
      "NAME");
  AddCount(
      app, "--group-size", 0, 65536, [&out](int64_t n) { out.group_size = n; },
      "Columns that share a scale in W2A16 to W8A16, a multiple of 32; 0: all of a row [128]");
  AddSwitch(app, "--asymmetric", out.asymmetric, "Zero points of their own for 2 to 4 bits, as awq has them anyway");
  AddWord(
      app, "--activations", {"dynamic", "static"},
      [&out](const std::string& kind) { out.static_inputs = kind == "static"; },
      "The scales with which other engines round activations to 8 bits in W8A8, FP8 and FP8_TENSOR: found for each "
      "token as it runs, or written, for each matrix one, from the text of --calib [dynamic]",
      "NAME");
}

void AddQuality(CLI::App& app, QuantizeQualityOptions& out) {
  const auto read_number = [](std::string_view text, double low, double& value) -> Status {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value < 1e6) return Status();
    return InvalidArgument("'{}' is no number from {:g} on", text, low);
  };
  const auto read_target = [&out, read_number](const std::string& text) {
    return read_number(text, 1.0, out.target_bpw.emplace());
  };
  AddRead(app, "--target-bpw", read_target,
          "Instead of TYPE: give each matrix the type with which all take at most X bits a weight and predictions "
          "change least, by what rounding it costs over the text of --calib",
          "X");
  AddParsed(app, "--types", &SplitAtCommas, out.types,
            "What --target-bpw and --report choose from, between commas [types and mixes from 2 bits to 8]",
            "TYPE,...");
  AddText(app, "--report", out.report,
          "Instead of TYPE: measure several, write an HTML page that compares them, and the one for --goal to OUT if "
          "that is given",
          "FILE");
  AddText(app, "--json", out.json, "The same as JSON", "FILE");
  AddText(app, "-f,--file", out.file, "The text that --report judges by; - is stdin [that of --calib]", "FILE");
  AddWord(
      app, "--goal", {"smallest", "fastest", "quality"}, [&out](const std::string& goal) { out.goal = goal; },
      "What --report recommends of the types within --max-kld: the smallest, the fastest, or the most accurate that "
      "is smaller and faster than the model was [fastest]",
      "NAME");
  AddRead(
      app, "--max-kld", [&out, read_number](const std::string& text) { return read_number(text, 0.0, out.max_kld); },
      "Mean KL divergence, nats a token, up to which --report recommends a type [0.05]", "X");
  AddCount(
      app, "--windows", 1, 65536, [&out](int64_t n) { out.windows = n; },
      "Windows of the text of --report at most [8]");
  AddCount(
      app, "--ctx", 16, 65536, [&out](int64_t n) { out.context = n; }, "Tokens of such a window [512]");
}

}  // namespace

void AddQuantize(CLI::App& app, QuantizeOptions& out) {
  AddModel(app, out.model);
  AddText(app, "OUT", out.output,
          "The .gguf file to write, or the folder, for the types from W4A16 on; --report needs none", "");
  AddText(app, "TYPE", out.scheme, quant::SchemeNames() + ", " + quant::FolderTypeNames(), "");
  AddQuality(app, out.quality);
  AddText(app, "--imatrix", out.importance_file, "What columns count, as adit imatrix or llama.cpp's tool wrote it",
          "FILE");
  AddText(app, "--mix", out.mix_file, "Types of tensors by name: a line 'REGEX TYPE' each, the first that fits counts",
          "FILE");
  AddList(app, "--tensor-type", out.rules, "A rule like a line of --mix, before those: 'ffn_down=q6_k'; repeatable");
  AddSwitch(app, "--pure", out.pure, "All matrices of one type, without the exceptions of the mix");
  AddSwitch(app, "--allow-requantize", out.requantize, "Also quantise what is quantised already, which adds errors");
  AddSwitch(app, "--dry-run", out.dry_run, "Write nothing; tell the sizes");
  const auto set_method = [&out](const std::string& method) {
    out.gptq = method.ends_with("gptq");
    out.awq = method.starts_with("awq");
    out.smooth = method.starts_with("smoothquant");
  };
  AddWord(app, "--method", {"rtn", "gptq", "awq", "awq-gptq", "smoothquant", "smoothquant-gptq"}, set_method,
          "rtn: each weight to the nearest value; gptq: what is left makes up for it; awq: finer where inputs are "
          "large; smoothquant: what large inputs cost is shared with the weights; and two of them [rtn]",
          "NAME");
  AddFolderTypes(app, out);
  AddText(app, "--calib", out.calibration_file,
          "Text of the kind that the model will see, for the other methods; - is stdin", "FILE");
  AddText(app, "--resume", out.resume_folder,
          "Keep layers in a folder as they are rounded, and go on from those that a stopped run has left there; it is "
          "removed at the end",
          "FOLDER");
  AddCount(
      app, "--calib-windows", 1, 65536, [&out](int64_t n) { out.calibration_windows = n; },
      "Windows of the text to run at most [32]");
  AddCount(
      app, "--calib-ctx", 16, 65536, [&out](int64_t n) { out.calibration_context = n; }, "Tokens of a window [512]");
  AddCount(
      app, "--split-max-size", 1, int64_t{1} << 50, [&out](int64_t n) { out.max_part_bytes = static_cast<size_t>(n); },
      "Write a GGUF file in parts of at most so many bytes of weights (2G); parts are opened by any of their names, "
      "and "
      "converting them writes one file");
  AddCount(
      app, "--threads", 1, 256, [&out](int64_t n) { out.threads = static_cast<int>(n); }, "Threads [one for each CPU]");
}

void AddImatrix(CLI::App& app, ImatrixOptions& out) {
  AddModel(app, out.model);
  AddRequired(app, "-f,--file", out.file, "Text of the kind that the model will see; - is stdin", "FILE");
  AddRequired(app, "-o,--output", out.output, "The file to write, in llama.cpp's form (GGUF)", "FILE");
  AddCount(
      app, "--limit", 1, int64_t{1} << 40, [&out](int64_t n) { out.limit = n; }, "Run so many windows at most [all]");
  AddCount(
      app, "--ctx", 4, int64_t{1} << 24, [&out](int64_t n) { out.context = n; }, "Tokens of a window [512]");
  AddEngine(app, out.engine);
}

}  // namespace adit::cli
