#ifndef ADIT_CLI_COMMANDS_H_
#define ADIT_CLI_COMMANDS_H_

#include "adit/status.h"
#include "cli/options.h"

// One function for each command, each in a file of its own. They give the exit code; an error is for main to report.
namespace adit::cli {

Result<int> Run(const RunOptions& options);
Result<int> Run(const ShowOptions& options);
Result<int> Run(const TokenizeOptions& options);
Result<int> Run(const DetokenizeOptions& options);
Result<int> Run(const TemplateOptions& options);
Result<int> Run(const LogitsOptions& options);
Result<int> Run(const EmbedOptions& options);
Result<int> Run(const BatchOptions& options);
Result<int> Run(const ServeOptions& options);
Result<int> Run(const BenchSimulateOptions& options);
Result<int> Run(const BenchThroughputOptions& options);
Result<int> Run(const BenchServeOptions& options);
Result<int> Run(const ConvertOptions& options);
Result<int> Run(const QuantizeOptions& options);
Result<int> Run(const ImatrixOptions& options);
Result<int> Run(const BenchRooflineOptions& options);
Result<int> Run(const BenchKernelsOptions& options);
Result<int> Run(const BenchModelOptions& options);
Result<int> Run(const BenchStartupOptions& options);
Result<int> Run(const EvalPerplexityOptions& options);
Result<int> Run(const EvalKldOptions& options);
Result<int> Run(const EvalHellaSwagOptions& options);
Result<int> Run(const EvalMmluOptions& options);
Result<int> Run(const EvalGsm8kOptions& options);
Result<int> Run(const EvalNeedleOptions& options);
Result<int> Run(const PullOptions& options);
Result<int> Run(const ListOptions& options);
Result<int> Run(const RemoveOptions& options);
Result<int> Run(const CopyOptions& options);
Result<int> Run(const PsOptions& options);
Result<int> Run(const StopOptions& options);
Result<int> Run(const DoctorOptions& options);
Result<int> Run(const VersionOptions& options);
Result<int> Run(const CompletionOptions& options);
Result<int> Run(const ManualOptions& options);

}  // namespace adit::cli

#endif  // ADIT_CLI_COMMANDS_H_
