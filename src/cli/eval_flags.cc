// Flags of adit eval.
#include <cstdint>
#include <string>

#include "cli/command_flags.h"

namespace adit::cli {
namespace {

void AddCommon(CLI::App& app, const std::string& limit_help, const std::string& context_help, EvalOptions& out) {
  AddCount(
      app, "--limit", 1, int64_t{1} << 40, [&out](int64_t n) { out.limit = n; }, limit_help);
  AddCount(
      app, "--ctx", 4, int64_t{1} << 24, [&out](int64_t n) { out.context = n; }, context_help);
  AddSwitch(app, "--json", out.json, "Answer with one JSON object");
}

void AddChoice(CLI::App& app, const std::string& file_help, EvalChoiceOptions& out) {
  AddModel(app, out.model);
  AddRequired(app, "-f,--file", out.file, file_help, "FILE");
  AddCommon(app, "Ask so many items at most [all]", "Tokens that an item may have [the model's, to 4096]", out);
  AddCount(
      app, "--shots", 0, 1000, [&out](int64_t n) { out.examples = n; },
      "Put the first items with their answers before each of the others [0]");
  AddEngine(app, out.engine);
}

}  // namespace

void AddEvalPerplexity(CLI::App& app, EvalPerplexityOptions& out) {
  AddModel(app, out.model);
  AddRequired(app, "-f,--file", out.file, "The text; - is stdin", "FILE");
  AddCommon(app, "Run so many windows at most [all]", "Tokens of a window [512]", out);
  AddText(app, "--save-base", out.save_base, "Also write what the model predicts, for eval kld --base", "FILE");
  AddEngine(app, out.engine);
}

void AddEvalKld(CLI::App& app, EvalKldOptions& out) {
  AddModel(app, out.model);
  AddRequired(app, "--base", out.base,
              "What to compare with: a model, or a file of --save-base or of llama.cpp's --kl-divergence-base", "BASE");
  AddText(app, "-f,--file", out.file, "The text; - is stdin [that of the base's file]", "FILE");
  AddCommon(app, "Run so many windows at most [all]", "Tokens of a window [512, or the base's]", out);
  AddEngine(app, out.engine);
}

void AddEvalHellaSwag(CLI::App& app, EvalHellaSwagOptions& out) {
  AddChoice(app, R"(Items: a line {"ctx":...,"endings":[...],"label":...} each; - is stdin)", out);
}

void AddEvalMmlu(CLI::App& app, EvalMmluOptions& out) {
  AddChoice(app, R"(Items: a line {"question":...,"choices":[...],"answer":...} each; - is stdin)", out);
}

void AddEvalGsm8k(CLI::App& app, EvalGsm8kOptions& out) {
  AddChoice(app, R"(Items: a line {"question":...,"answer":"... #### 42"} each; - is stdin)", out);
  AddCount(
      app, "--max-tokens", 1, 65536, [&out](int64_t n) { out.max_tokens = n; }, "Tokens of an answer at most [256]");
}

void AddEvalNeedle(CLI::App& app, EvalNeedleOptions& out) {
  AddModel(app, out.model);
  AddRequired(app, "-f,--file", out.file, "The text to hide in; - is stdin", "FILE");
  AddCounts(app, "--lengths", 64, int64_t{1} << 24, out.lengths, "Tokens of the prompts [512,1024,2048]");
  AddCounts(app, "--depths", 0, 100, out.depths, "Where the sentence is, per cent of the way [0,25,50,75,100]");
  AddCount(
      app, "--limit", 1, 1000, [&out](int64_t n) { out.limit = n; }, "Sentences for each length and depth [1]");
  AddCount(
      app, "--seed", 0, int64_t{1} << 62, [&out](int64_t n) { out.seed = static_cast<uint64_t>(n); },
      "Of the numbers that are hidden [1]");
  AddSwitch(app, "--json", out.json, "Answer with one JSON object");
  AddEngine(app, out.engine);
}

}  // namespace adit::cli
