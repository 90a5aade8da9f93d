// Flags of adit run.
#include <cstdint>
#include <limits>

#include "cli/command_flags.h"

namespace adit::cli {
namespace {

// What few people use.
void AddMoreSampling(CLI::App& app, sample::SamplingParams& out) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  AddReal(app, "--typical-p", out.typical_p,
          "Keep the most typical tokens up to this probability together; 1 is off [1]");
  AddReal(app, "--top-n-sigma", out.top_n_sigma,
          "Keep tokens within X standard deviations of the best logit; up to 0 is off [-1]");
  AddReal(app, "--xtc-probability", out.xtc_probability,
          "How often the top choices but the last are dropped, 0 to 1 [0]");
  AddReal(app, "--xtc-threshold", out.xtc_threshold, "Probability of a top choice; above 0.5 is off [0.1]");
  AddReal(app, "--dry-multiplier", out.dry_multiplier, "Taken off the logit of a token that goes on a repetition [0]");
  AddReal(app, "--dry-base", out.dry_base, "Times this for each token that the repetition is longer [1.75]");
  AddCount(
      app, "--dry-allowed-length", 0, kMax, [&out](int64_t n) { out.dry_allowed_length = n; },
      "Repetitions shorter than this lose nothing [2]");
  AddCount(
      app, "--dry-penalty-last-n", -1, kMax, [&out](int64_t n) { out.dry_penalty_last_n = n; },
      "How many tokens back --dry-multiplier looks; -1: all [-1]");
  AddReal(app, "--dynatemp-range", out.dynatemp_range, "The temperature goes by entropy, so far down and up [0]");
  AddReal(app, "--dynatemp-exponent", out.dynatemp_exponent, "Power of the entropy's share of its maximum [1]");
  AddCount(
      app, "--mirostat", 0, 2, [&out](int64_t n) { out.mirostat = static_cast<int32_t>(n); },
      "Steer the surprise of the tokens: version 1 or 2, in place of filters; 0 is off [0]");
  AddReal(app, "--mirostat-tau", out.mirostat_tau, "The surprise, in bits, to steer to [5]");
  AddReal(app, "--mirostat-eta", out.mirostat_eta, "How fast, up to 1 [0.1]");
  AddCount(
      app, "--no-repeat-ngram-size", 0, sample::kMaxNgramSize, [&out](int64_t n) { out.no_repeat_ngram_size = n; },
      "No sequence of N tokens occurs twice; 0 is off [0]");
  AddParsed(app, "--samplers", &SplitAtCommas, out.samplers, "Steps in order, separated by commas", "NAMES");
}

void AddSampling(CLI::App& app, sample::SamplingParams& out) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  AddReal(app, "--temp", out.temperature, "Temperature, 0 to 2; 0 takes the most likely token [0.8]");
  AddCount(
      app, "--top-k", -1, kMax, [&out](int64_t n) { out.top_k = n; },
      "Keep the N most likely tokens; 0 keeps all [40]");
  AddReal(app, "--top-p", out.top_p, "Keep the most likely tokens up to this probability together [0.95]");
  AddReal(app, "--min-p", out.min_p, "Keep tokens at least this likely, as a share of the most likely one [0.05]");
  AddReal(app, "--repeat-penalty", out.repetition_penalty, "Divides the logits of tokens seen before; 1 is off [1]");
  AddCount(
      app, "--repeat-last-n", -1, kMax, [&out](int64_t n) { out.repeat_last_n = n; },
      "How many tokens back --repeat-penalty looks; -1: all [64]");
  AddReal(app, "--presence-penalty", out.presence_penalty, "Taken off the logits of tokens of the answer, -2 to 2 [0]");
  AddReal(app, "--frequency-penalty", out.frequency_penalty, "The same, for each time they occur, -2 to 2 [0]");
  AddMoreSampling(app, out);
}

void AddConstraint(CLI::App& app, RunOptions& out) {
  CLI::Option* const schema = AddText(app, "--json-schema", out.json_schema_file,
                                      "Answers are JSON that is valid under the schema in FILE; - reads stdin", "FILE");
  CLI::Option* const grammar =
      AddText(app, "--grammar", out.grammar_file, "Answers are what the rules in FILE describe (GBNF)", "FILE");
  CLI::Option* const regex = AddText(app, "--regex", out.regex, "Answers match the regular expression", "REGEX");
  CLI::Option* const json = AddSwitch(app, "--json", out.json_object, "Answers are JSON objects");
  Exclude(schema, grammar);
  Exclude(schema, regex);
  Exclude(schema, json);
  Exclude(grammar, regex);
  Exclude(grammar, json);
  Exclude(regex, json);
}

}  // namespace

void AddTalk(CLI::App& app, RunOptions& out) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  AddSampling(app, out.sampling);
  AddCount(
      app, "--seed", kMin, kMax, [&out](int64_t n) { out.seed = n; }, "Seed of the random numbers [random]");
  AddCount(
      app, "-n,--max-tokens", -1, kMax, [&out](int64_t n) { out.max_tokens = n; },
      "Most tokens of an answer; -1: until the context is full [-1]");
  AddSwitch(app, "--ignore-eos", out.ignore_eos, "Go on after the token that ends an answer");
  AddSwitch(app, "--verbose", out.verbose, "Report times, rates, memory and seed on stderr");
}

void AddRun(CLI::App& app, RunOptions& out) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  AddModel(app, out.model);
  AddText(app, "PROMPT", out.prompt, "What to say; what stdin holds comes after it. Without: a talk", "");
  AddText(app, "--system", out.system, "System message [the template's own]");
  AddTalk(app, out);
  AddCount(
      app, "--ctx", 1, kMax, [&out](int64_t n) { out.context_length = n; },
      "Context in tokens, prompt and answer [the model's, or what fits]");
  AddConstraint(app, out);
  AddEngine(app, out.engine);
  AddSwitch(app, "--raw", out.raw,
            "Leave out the chat template: the prompt is the whole text, control tokens included");
}

}  // namespace adit::cli
