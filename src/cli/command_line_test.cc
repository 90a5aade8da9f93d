#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <variant>
#include <vector>

namespace adit::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "adit");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
}

// The options of one command; a default one, and a failure, where the line asks for something else.
template <typename Options>
Options ParseAs(const std::vector<const char*>& arguments) {
  const Result<CommandLine> line = Parse(arguments);
  if (line.ok() && line->command && std::holds_alternative<Options>(*line->command)) {
    return std::get<Options>(*line->command);
  }
  ADD_FAILURE() << (line.ok() ? "another command" : line.status().ToString());
  return {};
}

std::string ErrorOf(const std::vector<const char*>& arguments) {
  const Result<CommandLine> line = Parse(arguments);
  EXPECT_EQ(line.status().code(), StatusCode::kInvalidArgument);
  return line.status().message();
}

TEST(CommandLine, EvalHasCommandsOfItsOwn) {
  const EvalPerplexityOptions perplexity =
      ParseAs<EvalPerplexityOptions>({"eval", "perplexity", "m", "-f", "t", "--ctx", "64", "--save-base", "b"});
  EXPECT_EQ(perplexity.model, "m");
  EXPECT_EQ(perplexity.file, "t");
  EXPECT_EQ(perplexity.context, 64);
  EXPECT_EQ(perplexity.save_base, "b");
  const EvalKldOptions kld = ParseAs<EvalKldOptions>({"eval", "kld", "m", "--base", "b", "--limit", "3", "--json"});
  EXPECT_EQ(kld.base, "b");
  EXPECT_EQ(kld.limit, 3);
  EXPECT_TRUE(kld.json && kld.file.empty());
  EXPECT_EQ(ParseAs<EvalMmluOptions>({"eval", "mmlu", "m", "-f", "t", "--shots", "5"}).examples, 5);
}

TEST(CommandLine, RunHasTheDefaultsOfLlamaCli) {
  const RunOptions options = ParseAs<RunOptions>({"run", "m.gguf"});
  EXPECT_EQ(options.model, "m.gguf");
  EXPECT_FALSE(options.prompt || options.system || options.seed || options.context_length);
  EXPECT_EQ(options.sampling.temperature, 0.8);
  EXPECT_EQ(options.sampling.top_k, 40);
  EXPECT_EQ(options.sampling.top_p, 0.95);
  EXPECT_EQ(options.sampling.min_p, 0.05);
  EXPECT_EQ(options.sampling.repetition_penalty, 1.0);
  EXPECT_EQ(options.max_tokens, -1);
  EXPECT_FALSE(options.raw || options.verbose || options.ignore_eos);
  EXPECT_FALSE(options.engine.threads || options.engine.isa || options.engine.kv_type);
}

TEST(CommandLine, RunTakesTheOtherStepsOfTheSampler) {
  const sample::SamplingParams params =
      ParseAs<RunOptions>({"run", "m", "--typical-p=0.9", "--top-n-sigma=1.5", "--xtc-probability=0.25",
                           "--xtc-threshold=0.2", "--dry-multiplier=0.8", "--dry-base=2", "--dry-allowed-length=3",
                           "--dry-penalty-last-n=64", "--dynatemp-range=0.5", "--dynatemp-exponent=2", "--mirostat=2",
                           "--mirostat-tau=4", "--mirostat-eta=0.3", "--no-repeat-ngram-size=5", "--samplers",
                           "top_p,xtc,temperature", "Say hello"})
          .sampling;
  EXPECT_EQ(params.typical_p, 0.9);
  EXPECT_EQ(params.top_n_sigma, 1.5);
  EXPECT_EQ(params.xtc_probability, 0.25);
  EXPECT_EQ(params.xtc_threshold, 0.2);
  EXPECT_EQ(params.dry_multiplier, 0.8);
  EXPECT_EQ(params.dry_base, 2);
  EXPECT_EQ(params.dry_allowed_length, 3);
  EXPECT_EQ(params.dry_penalty_last_n, 64);
  EXPECT_EQ(params.dynatemp_range, 0.5);
  EXPECT_EQ(params.dynatemp_exponent, 2);
  EXPECT_EQ(params.mirostat, 2);
  EXPECT_EQ(params.mirostat_tau, 4);
  EXPECT_EQ(params.mirostat_eta, 0.3);
  EXPECT_EQ(params.no_repeat_ngram_size, 5);
  EXPECT_THAT(params.samplers.value(), ElementsAre("top_p", "xtc", "temperature"));
  EXPECT_EQ(ParseAs<RunOptions>({"run", "m", "--samplers", "xtc", "Hi"}).prompt, "Hi");
  EXPECT_THAT(ErrorOf({"run", "m", "--mirostat", "3"}), HasSubstr("3 is not in 0..2"));
}

TEST(CommandLine, RunTakesItsFlags) {
  const RunOptions options = ParseAs<RunOptions>({"run",
                                                  "--system",
                                                  "be brief",
                                                  "--temp",
                                                  "0",
                                                  "--top-k=5",
                                                  "--top-p",
                                                  "0.5",
                                                  "--min-p",
                                                  "0.1",
                                                  "--seed",
                                                  "-7",
                                                  "--repeat-penalty",
                                                  "1.1",
                                                  "--repeat-last-n",
                                                  "-1",
                                                  "--presence-penalty",
                                                  "-2",
                                                  "--frequency-penalty",
                                                  "0.25",
                                                  "--ctx",
                                                  "4K",
                                                  "-n",
                                                  "10",
                                                  "--threads",
                                                  "2",
                                                  "--no-bind-threads",
                                                  "--isa",
                                                  "ref",
                                                  "--kv-type",
                                                  "f32",
                                                  "--raw",
                                                  "--ignore-eos",
                                                  "--verbose",
                                                  "m.gguf",
                                                  "hello"});
  EXPECT_EQ(options.prompt, "hello");
  EXPECT_EQ(options.system, "be brief");
  EXPECT_EQ(options.sampling.temperature, 0);
  EXPECT_EQ(options.sampling.top_k, 5);
  EXPECT_EQ(options.sampling.top_p, 0.5);
  EXPECT_EQ(options.sampling.min_p, 0.1);
  EXPECT_EQ(options.sampling.repetition_penalty, 1.1);
  EXPECT_EQ(options.sampling.repeat_last_n, -1);
  EXPECT_EQ(options.sampling.presence_penalty, -2);
  EXPECT_EQ(options.sampling.frequency_penalty, 0.25);
  EXPECT_EQ(options.seed, -7);
  EXPECT_EQ(options.context_length, 4096);
  EXPECT_EQ(options.max_tokens, 10);
  EXPECT_EQ(options.engine.threads, 2);
  EXPECT_FALSE(options.engine.bind_threads);
  EXPECT_EQ(options.engine.isa, "ref");
  EXPECT_EQ(options.engine.kv_type, "f32");
  EXPECT_TRUE(options.raw && options.verbose && options.ignore_eos);
}

TEST(CommandLine, BatchTakesItsFlags) {
  const BatchOptions plain = ParseAs<BatchOptions>({"batch", "in", "out", "m.gguf"});
  EXPECT_EQ(plain.input, "in");
  EXPECT_EQ(plain.output, "out");
  EXPECT_EQ(plain.model, "m.gguf");
  EXPECT_FALSE(plain.overwrite || plain.context_length || plain.max_tokens || plain.kv_tokens);
  EXPECT_EQ(plain.scheduler.max_num_seqs, 64);
  EXPECT_EQ(plain.scheduler.max_queued_requests, 0);
  const BatchOptions options = ParseAs<BatchOptions>(
      {"batch", "--overwrite", "--ctx", "4K", "-n", "10", "--max-num-seqs", "8", "--max-num-batched-tokens", "256",
       "--kv-tokens", "9", "--scheduling-policy", "priority", "--threads", "2", "in", "out", "m.gguf"});
  EXPECT_TRUE(options.overwrite);
  EXPECT_EQ(options.context_length, 4096);
  EXPECT_EQ(options.max_tokens, 10);
  EXPECT_EQ(options.scheduler.max_num_seqs, 8);
  EXPECT_EQ(options.scheduler.max_batch_tokens, 256);
  EXPECT_EQ(options.kv_tokens, 9);
  EXPECT_EQ(options.scheduler.policy, sched::Policy::kPriority);
  EXPECT_EQ(options.engine.threads, 2);
  EXPECT_THAT(ErrorOf({"batch", "in", "out"}), HasSubstr("MODEL"));
}

TEST(CommandLine, APromptIsTakenAsItStands) {
  for (const char* prompt :
       {"", " ", "[a,b]", "{x}", "\"quoted\"", "a=b", "- a list", "-5", "show", "a\nb", "%s", "@x"}) {
    EXPECT_EQ(ParseAs<RunOptions>({"run", "m.gguf", prompt}).prompt, prompt) << prompt;
    EXPECT_EQ(ParseAs<RunOptions>({"run", "--system", prompt, "m.gguf"}).system, prompt) << prompt;
  }
  EXPECT_EQ(ParseAs<RunOptions>({"run", "m.gguf", "--", "--temp"}).prompt, "--temp");
}

TEST(CommandLine, TheLastOfAFlagCounts) {
  EXPECT_EQ(ParseAs<RunOptions>({"run", "m", "--temp", "1", "--temp", "0.5", "-n", "1", "-n", "2"}).max_tokens, 2);
}

TEST(CommandLine, TokenizeTakesTextOrAFile) {
  const TokenizeOptions text = ParseAs<TokenizeOptions>({"tokenize", "m", "hi there", "--special", "--json"});
  EXPECT_EQ(text.text, "hi there");
  EXPECT_TRUE(text.special && text.json && !text.add_special && !text.json_lines);
  const TokenizeOptions file = ParseAs<TokenizeOptions>({"tokenize", "m", "--file", "x", "--add-special", "--jsonl"});
  EXPECT_FALSE(file.text);
  EXPECT_EQ(file.file, "x");
  EXPECT_TRUE(file.add_special && file.json_lines);
  EXPECT_THAT(ErrorOf({"tokenize", "m", "hi", "--file", "x"}), HasSubstr("excludes"));
  EXPECT_THAT(ErrorOf({"tokenize", "m", "hi", "--jsonl"}), HasSubstr("excludes"));
}

TEST(CommandLine, DetokenizeTakesIdsAsWordsOrLists) {
  EXPECT_THAT(ParseAs<DetokenizeOptions>({"detokenize", "m", "1", "2,3", "4"}).ids, ElementsAre("1", "2,3", "4"));
  EXPECT_THAT(ParseAs<DetokenizeOptions>({"detokenize", "m"}).ids, ElementsAre());
}

TEST(CommandLine, TemplateTakesAContextAndAClock) {
  const TemplateOptions options =
      ParseAs<TemplateOptions>({"template", "x.jinja", "--context", "-", "--now", "2024-07-26T12:34:56"});
  EXPECT_EQ(options.source, "x.jinja");
  EXPECT_EQ(options.context_file, "-");
  ASSERT_TRUE(options.now);
  EXPECT_EQ(options.now->tm_year, 124);
  EXPECT_THAT(ErrorOf({"template", "x", "--now", "today"}), HasSubstr("'today' is no date and time"));
  EXPECT_THAT(ErrorOf({"template", "-", "--context", "-"}), HasSubstr("cannot both come from stdin"));
}

TEST(CommandLine, LogitsNeedsTokensAndAFile) {
  const LogitsOptions options =
      ParseAs<LogitsOptions>({"logits", "m", "--tokens", "1,2", "--all", "--chunk", "3", "-o", "x"});
  EXPECT_EQ(options.tokens, "1,2");
  EXPECT_EQ(options.output, "x");
  EXPECT_EQ(options.chunk, 3);
  EXPECT_TRUE(options.all);
  EXPECT_THAT(ErrorOf({"logits", "m", "--tokens", "1"}), HasSubstr("--output is required"));
  EXPECT_THAT(ErrorOf({"logits", "m", "-o", "x"}), HasSubstr("--tokens or --tokens-file is required"));
  EXPECT_THAT(ErrorOf({"logits", "m", "-o", "x", "--tokens", "1", "--tokens-file", "y"}), HasSubstr("excludes"));
  EXPECT_THAT(ErrorOf({"logits", "m", "--chunk", "0", "--tokens", "1", "-o", "x"}), HasSubstr("0 is not in 1..65536"));
}

TEST(CommandLine, HelpNamesCommandsAndFlags) {
  const Result<CommandLine> all = Parse({"--help"});
  ASSERT_TRUE(all.ok() && !all->command);
  for (const char* name : {"run", "show", "tokenize", "detokenize", "template", "logits", "doctor", "version"}) {
    EXPECT_THAT(all->text, HasSubstr(name));
  }
  const Result<CommandLine> run = Parse({"run", "--help"});
  ASSERT_TRUE(run.ok() && !run->command);
  for (const char* name : {"--system", "--temp", "--top-k", "--top-p", "--min-p", "--seed", "--ctx", "--max-tokens",
                           "--threads", "--isa", "--raw", "--verbose", "[0.95]"}) {
    EXPECT_THAT(run->text, HasSubstr(name));
  }
}

TEST(CommandLine, VersionIsACommandAndAFlag) {
  ParseAs<VersionOptions>({"version"});
  ParseAs<VersionOptions>({"--version"});
  ParseAs<DoctorOptions>({"doctor"});
}

TEST(CommandLine, SaysWhatItDoesNotUnderstandAndWhatMayHaveBeenMeant) {
  EXPECT_EQ(ErrorOf({}), "no command given; see 'adit --help'");
  EXPECT_EQ(ErrorOf({"rnu", "m"}), "unknown command 'rnu' (did you mean 'run'?); see 'adit --help'");
  EXPECT_EQ(ErrorOf({"frobnicate"}), "unknown command 'frobnicate'; see 'adit --help'");
  EXPECT_EQ(ErrorOf({"run", "m", "--tmep", "1"}),
            "run: unknown flag '--tmep' (did you mean '--temp'?); see 'adit run --help'");
  EXPECT_EQ(ErrorOf({"run", "m", "--top_k=1"}),
            "run: unknown flag '--top_k' (did you mean '--top-k'?); see 'adit run --help'");
  EXPECT_EQ(ErrorOf({"run", "m", "a", "b"}), "run: one argument too many: 'b'; see 'adit run --help'");
  EXPECT_THAT(ErrorOf({"run"}), HasSubstr("run: MODEL is required"));
  EXPECT_THAT(ErrorOf({"--verbose", "run", "m"}), HasSubstr("unknown flag '--verbose'"));
}

TEST(CommandLine, NamesTheFlagWhoseValueIsWrong) {
  EXPECT_THAT(ErrorOf({"run", "m", "--ctx", "lots"}), HasSubstr("--ctx: 'lots' is no whole number"));
  EXPECT_THAT(ErrorOf({"run", "m", "--ctx", "0"}), HasSubstr("--ctx: 0 is below 1"));
  EXPECT_THAT(ErrorOf({"run", "m", "--threads", "0"}), HasSubstr("--threads: 0 is not in 1..256"));
  EXPECT_THAT(ErrorOf({"run", "m", "--temp", "hot"}), HasSubstr("--temp"));
  EXPECT_THAT(ErrorOf({"run", "m", "--temp"}), HasSubstr("--temp"));
  EXPECT_THAT(ErrorOf({"run", "m", "--kv-type", "q8"}), HasSubstr("--kv-type"));
  EXPECT_THAT(ErrorOf({"run", "m", "-n", "-2"}), HasSubstr("-2 is below -1"));
}

TEST(CommandLine, BenchSimulateTakesItsFlags) {
  const BenchSimulateOptions options = ParseAs<BenchSimulateOptions>({"bench",
                                                                      "simulate",
                                                                      "--num-prompts",
                                                                      "2k",
                                                                      "--request-rate",
                                                                      "3.5",
                                                                      "--burstiness",
                                                                      "0.5",
                                                                      "--turns",
                                                                      "3",
                                                                      "--tenants",
                                                                      "a:2,b",
                                                                      "--policy",
                                                                      "fair",
                                                                      "--batching",
                                                                      "static",
                                                                      "--seed",
                                                                      "7",
                                                                      "--input-len",
                                                                      "64",
                                                                      "--output-len",
                                                                      "uniform:1:9",
                                                                      "--itl-target-ms",
                                                                      "40",
                                                                      "--slo",
                                                                      "ttft:250",
                                                                      "--cost",
                                                                      "1,2,3,4",
                                                                      "-o",
                                                                      "json",
                                                                      "--no-prefix-cache",
                                                                      "--pages",
                                                                      "50",
                                                                      "--no-chunked-prefill"});
  EXPECT_EQ(options.bench.num_prompts, 2000);
  EXPECT_EQ(options.bench.workload.requests_per_s, 3.5);
  EXPECT_EQ(options.bench.workload.burstiness, 0.5);
  EXPECT_EQ(options.bench.workload.turns, 3);
  EXPECT_EQ(options.bench.workload.tenants.size(), 2u);
  EXPECT_EQ(options.bench.workload.seed, 7u);
  EXPECT_EQ(options.bench.input_len->ToString(), "64");
  EXPECT_EQ(options.bench.output_len->ToString(), "uniform:1:9");
  EXPECT_EQ(options.bench.scheduler.policy, sched::Policy::kFair);
  EXPECT_EQ(options.bench.scheduler.batching, sched::Batching::kStatic);
  EXPECT_FALSE(options.bench.scheduler.prefix_cache || options.bench.scheduler.chunked_prefill);
  EXPECT_DOUBLE_EQ(options.bench.scheduler.itl_target_s, 0.04);
  EXPECT_DOUBLE_EQ(options.bench.objectives.first_token_s, 0.25);
  EXPECT_DOUBLE_EQ(options.cost.decode_s, 3e-6);
  EXPECT_EQ(options.bench.format, ReportFormat::kJson);
  EXPECT_EQ(options.bench.pages, 50);
}

TEST(CommandLine, BenchDefaults) {
  const BenchThroughputOptions options = ParseAs<BenchThroughputOptions>({"bench", "throughput", "m.gguf"});
  EXPECT_EQ(options.model, "m.gguf");
  EXPECT_EQ(options.bench.dataset, "random");
  EXPECT_TRUE(std::isinf(options.bench.workload.requests_per_s));
  EXPECT_EQ(options.bench.scheduler.max_queued_requests, 0);
  EXPECT_EQ(options.bench.repeat, 1);
  EXPECT_FALSE(options.bench.ablate || options.bench.objectives.any());
  EXPECT_TRUE(std::isinf(
      ParseAs<BenchSimulateOptions>({"bench", "simulate", "--request-rate", "inf"}).bench.workload.requests_per_s));
}

TEST(CommandLine, BenchErrorsNameTheCommandAndTheFlag) {
  EXPECT_EQ(ErrorOf({"bench"}), "bench: no command given; see 'adit bench --help'");
  EXPECT_THAT(ErrorOf({"bench", "simulat"}), HasSubstr("bench: unknown command 'simulat' (did you mean 'simulate'?)"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "--polciy", "fair"}),
              HasSubstr("bench simulate: unknown flag '--polciy' (did you mean '--policy'?)"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "extra"}), HasSubstr("bench simulate: one argument too many: 'extra'"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "--policy", "best"}), HasSubstr("there are fcfs, priority"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "--input-len", "x"}), HasSubstr("--input-len"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "--slo", "x:1"}), HasSubstr("ttft:MS"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "-o", "pdf"}), HasSubstr("pdf"));
  EXPECT_THAT(ErrorOf({"bench", "simulate", "--pages", "1", "--kv-tokens", "1"}), HasSubstr("--pages"));
  EXPECT_THAT(ErrorOf({"bench", "throughput"}), HasSubstr("MODEL is required; see 'adit bench throughput --help'"));
}

TEST(CommandLine, ServeTakesItsFlags) {
  const ServeOptions defaults = ParseAs<ServeOptions>({"serve", "m.gguf"});
  EXPECT_EQ(defaults.host, "127.0.0.1");
  EXPECT_EQ(defaults.port, 8000);
  EXPECT_TRUE(defaults.access_log && defaults.api_keys.empty() && defaults.names.empty());
  EXPECT_EQ(defaults.scheduler.max_queued_requests, 1024);
  const ServeOptions options = ParseAs<ServeOptions>({"serve",
                                                      "--api-key",
                                                      "a",
                                                      "--alias",
                                                      "x",
                                                      "m.gguf",
                                                      "--api-key",
                                                      "b",
                                                      "--served-model-name",
                                                      "y",
                                                      "--port=0",
                                                      "--max-model-len",
                                                      "512",
                                                      "--itl-target-ms",
                                                      "50",
                                                      "--no-prefix-caching",
                                                      "--scheduling-policy",
                                                      "fair",
                                                      "--strict-params",
                                                      "--no-access-log",
                                                      "--tool-call-parser",
                                                      "hermes"});
  EXPECT_THAT(options.models, ElementsAre("m.gguf"));
  EXPECT_THAT(options.api_keys, ElementsAre("a", "b"));
  EXPECT_THAT(options.names, ElementsAre("x", "y"));
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.context_length, 512);
  EXPECT_DOUBLE_EQ(options.scheduler.itl_target_s, 0.05);
  EXPECT_TRUE(options.strict_params && !options.access_log && !options.scheduler.prefix_cache);
  EXPECT_EQ(options.tool_parser, "hermes");
  const ServeOptions many = ParseAs<ServeOptions>(
      {"serve", "a", "b", "--preload", "a", "c", "--pin", "b", "--alias", "x=a", "--compat", "ollama", "--offline"});
  EXPECT_THAT(many.models, ElementsAre("a", "b", "c"));
  EXPECT_THAT(many.preload, ElementsAre("a"));
  EXPECT_THAT(many.pins, ElementsAre("b"));
  EXPECT_THAT(many.compat, ElementsAre("ollama"));
  EXPECT_TRUE(many.offline);
  EXPECT_THAT(ErrorOf({"serve"}), HasSubstr("MODEL is required"));
  EXPECT_THAT(ErrorOf({"serve", "m", "--compat", "x"}), HasSubstr("there is: ollama"));
  EXPECT_THAT(ErrorOf({"serve", "m", "--tool-call-parser", "magic"}), HasSubstr("--tool-call-parser"));
  EXPECT_THAT(ErrorOf({"serve", "m", "--port", "70000"}), HasSubstr("70000 is not in 0..65535"));
  EXPECT_THAT(ErrorOf({"serve", "m", "--port", "1", "--uds", "x"}), HasSubstr("--uds"));
}

TEST(CommandLine, ModelsAreFetchedAndKept) {
  const PullOptions pull = ParseAs<PullOptions>({"pull", "o/n:Q4_0", "--include", "*.a", "--include", "b", "--alias",
                                                 "x", "--connections", "8", "--no-resume", "--verify", "--json"});
  EXPECT_EQ(pull.model, "o/n:Q4_0");
  EXPECT_THAT(pull.include, ElementsAre("*.a", "b"));
  EXPECT_EQ(pull.alias, "x");
  EXPECT_EQ(pull.connections, 8);
  EXPECT_TRUE(!pull.resume && pull.verify && pull.json);
  EXPECT_THAT(ErrorOf({"pull"}), HasSubstr("MODEL is required"));
  EXPECT_THAT(ErrorOf({"pull", "o/n", "--connections", "0"}), HasSubstr("1..32"));
  EXPECT_TRUE(ParseAs<ListOptions>({"ls", "--json"}).json);
  EXPECT_FALSE(ParseAs<ListOptions>({"list"}).json);
  EXPECT_THAT(ParseAs<RemoveOptions>({"rm", "a", "b"}).names, ElementsAre("a", "b"));
  EXPECT_THAT(ErrorOf({"rm"}), HasSubstr("MODEL is required"));
  EXPECT_EQ(ParseAs<CopyOptions>({"cp", "a", "b"}).name, "b");
  EXPECT_THAT(ErrorOf({"cp", "a"}), HasSubstr("NAME is required"));
  EXPECT_EQ(ParseAs<PsOptions>({"ps", "--url", "http://x"}).url, "http://x");
  EXPECT_EQ(ParseAs<StopOptions>({"stop", "a"}).model, "a");
}

}  // namespace
}  // namespace adit::cli
