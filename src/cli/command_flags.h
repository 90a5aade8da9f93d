#ifndef ADIT_CLI_COMMAND_FLAGS_H_
#define ADIT_CLI_COMMAND_FLAGS_H_

#include "cli/flags.h"
#include "cli/options.h"

// The flags of each command, which fill its options.
namespace adit::cli {

void AddRun(CLI::App& app, RunOptions& out);
// Those of AddRun that can change while a talk goes on.
void AddTalk(CLI::App& app, RunOptions& out);
void AddShow(CLI::App& app, ShowOptions& out);
void AddTokenize(CLI::App& app, TokenizeOptions& out);
void AddDetokenize(CLI::App& app, DetokenizeOptions& out);
void AddTemplate(CLI::App& app, TemplateOptions& out);
void AddLogits(CLI::App& app, LogitsOptions& out);
void AddBatch(CLI::App& app, BatchOptions& out);
void AddServe(CLI::App& app, ServeOptions& out);
void AddBenchSimulate(CLI::App& app, BenchSimulateOptions& out);
void AddBenchThroughput(CLI::App& app, BenchThroughputOptions& out);
void AddBenchServe(CLI::App& app, BenchServeOptions& out);
void AddEmbed(CLI::App& app, EmbedOptions& out);
void AddConvert(CLI::App& app, ConvertOptions& out);
void AddQuantize(CLI::App& app, QuantizeOptions& out);
void AddImatrix(CLI::App& app, ImatrixOptions& out);
void AddBenchRoofline(CLI::App& app, BenchRooflineOptions& out);
void AddBenchKernels(CLI::App& app, BenchKernelsOptions& out);
void AddBenchModel(CLI::App& app, BenchModelOptions& out);
void AddBenchStartup(CLI::App& app, BenchStartupOptions& out);
void AddCompletion(CLI::App& app, CompletionOptions& out);
void AddEvalPerplexity(CLI::App& app, EvalPerplexityOptions& out);
void AddEvalKld(CLI::App& app, EvalKldOptions& out);
void AddEvalHellaSwag(CLI::App& app, EvalHellaSwagOptions& out);
void AddEvalMmlu(CLI::App& app, EvalMmluOptions& out);
void AddEvalGsm8k(CLI::App& app, EvalGsm8kOptions& out);
void AddEvalNeedle(CLI::App& app, EvalNeedleOptions& out);
void AddPull(CLI::App& app, PullOptions& out);
void AddListModels(CLI::App& app, ListOptions& out);
void AddRemove(CLI::App& app, RemoveOptions& out);
void AddCopy(CLI::App& app, CopyOptions& out);
void AddPs(CLI::App& app, PsOptions& out);
void AddStop(CLI::App& app, StopOptions& out);

}  // namespace adit::cli

#endif  // ADIT_CLI_COMMAND_FLAGS_H_
