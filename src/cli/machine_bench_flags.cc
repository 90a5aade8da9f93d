// Flags of adit bench roofline, kernels, model and startup.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker_team.h"
#include "cli/command_flags.h"
#include "cli/machine_bench.h"

namespace adit::cli {
namespace {

void AddMachineBench(CLI::App& app, MachineBenchOptions& out) {
  const auto set_format = [&out](const std::string& name) {
    out.format = name == "json"   ? TableFormat::kJson
                 : name == "csv"  ? TableFormat::kCsv
                 : name == "html" ? TableFormat::kHtml
                                  : TableFormat::kMarkdown;
  };
  AddWord(app, "-o,--output-format", {"md", "json", "csv", "html"}, set_format, "md, json, csv or html [md]", "FORMAT");
  AddText(app, "--output-file", out.output_file, "Write the report there [stdout]", "FILE");
  AddText(app, "--compare", out.compare, "Set beside an earlier JSON report of this machine", "FILE");
}

void AddRepetitions(CLI::App& app, MachineBenchOptions& out) {
  AddCount(
      app, "-r,--repetitions", 1, 1000, [&out](int64_t n) { out.repetitions = n; }, "Runs of each, for medians [5]");
}

// "1536x512,8960x1536"
Result<std::vector<std::pair<int64_t, int64_t>>> ParseShapes(std::string_view text) {
  std::vector<std::pair<int64_t, int64_t>> shapes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view shape = text.substr(begin, end - begin);
    const size_t x = shape.find('x');
    if (x == std::string_view::npos) return InvalidArgument("'{}' is not ROWSxCOLUMNS", shape);
    ADIT_ASSIGN_OR_RETURN(const auto rows, ParseCounts(shape.substr(0, x), 1, 1 << 20));
    ADIT_ASSIGN_OR_RETURN(const auto cols, ParseCounts(shape.substr(x + 1), 32, 1 << 20));
    if (rows.size() != 1 || cols.size() != 1 || cols.front() % 32 != 0) {
      return InvalidArgument("'{}' is not ROWSxCOLUMNS with columns a multiple of 32", shape);
    }
    shapes.emplace_back(rows.front(), cols.front());
    begin = end + 1;
  }
  return shapes;
}

}  // namespace

void AddBenchRoofline(CLI::App& app, BenchRooflineOptions& out) {
  AddCounts(app, "-t,--threads", 1, WorkerTeam::kMaxWorkers, out.threads, "Thread counts [one, and all CPUs]");
  AddMachineBench(app, out.machine);
}

void AddBenchKernels(CLI::App& app, BenchKernelsOptions& out) {
  AddParsed(app, "--type", &SplitAtCommas, out.types, "Types of weights, between commas [all]", "TYPE,...");
  AddParsed(app, "--shape", &ParseShapes, out.shapes, "Rows and columns of weights [1536x512,8960x1536]", "RxC,...");
  AddCounts(app, "--rows", 1, 1 << 16, out.rows, "Rows of activations [1,4,16,512]");
  AddCounts(app, "-t,--threads", 1, WorkerTeam::kMaxWorkers, out.threads, "Thread counts [all CPUs]");
  AddText(app, "--isa", out.isa, "Kernel set: auto, ref, avx2 or avx512 [ADIT_ISA, else auto]", "NAME");
  AddMachineBench(app, out.machine);
}

void AddBenchModel(CLI::App& app, BenchModelOptions& out) {
  constexpr int64_t kMax = 1 << 24;
  AddModel(app, out.model);
  AddCounts(app, "-p,--n-prompt", 0, kMax, out.prompts, "Prompt tokens; 0: no such test [512]");
  AddCounts(app, "-n,--n-gen", 0, kMax, out.gens, "Tokens generated one after another; 0: no such test [128]");
  AddCounts(app, "-d,--n-depth", 0, kMax, out.depths, "Tokens that the cache holds before [0]");
  AddCounts(app, "-b,--batch", 1, 4096, out.batches, "Sequences at once [1]");
  AddCounts(app, "-t,--threads", 1, WorkerTeam::kMaxWorkers, out.threads, "Thread counts [all CPUs]");
  AddCount(
      app, "--chunk", 1, 1 << 16, [&out](int64_t n) { out.chunk = n; }, "Prompt tokens of one pass [512]");
  AddCount(
      app, "--block-size", 1, 1024, [&out](int64_t n) { out.block_size = n; }, "Tokens of a page [16]");
  AddSwitch(app, "--ablate", out.ablate, "Tell instead what each technique that is on is worth");
  AddRepetitions(app, out.machine);
  AddKernelChoice(app, out.engine);
  AddMachineBench(app, out.machine);
}

void AddBenchStartup(CLI::App& app, BenchStartupOptions& out) {
  AddModel(app, out.model);
  AddRepetitions(app, out.machine);
  AddEngine(app, out.engine);
  AddMachineBench(app, out.machine);
}

}  // namespace adit::cli
