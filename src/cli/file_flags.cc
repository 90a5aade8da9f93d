// Flags of the commands that look at a model file or use a part of it.
#include <cstdint>
#include <string>

#include "cli/command_flags.h"
#include "cli/date_time.h"
#include "engine/pooling.h"

namespace adit::cli {

void AddShow(CLI::App& app, ShowOptions& out) {
  AddModel(app, out.model);
  AddSwitch(app, "--tensors", out.tensors, "List the tensors: name, type, size, shape (outermost dimension first)");
  AddSwitch(app, "--metadata", out.metadata, "List all keys; long values are cut");
  AddSwitch(app, "--template", out.chat_template, "Print the chat template and nothing else");
  AddSwitch(app, "--json", out.json, "Everything as JSON; long arrays are cut unless --metadata is given too");
}

void AddTokenize(CLI::App& app, TokenizeOptions& out) {
  AddModel(app, out.model);
  CLI::Option* text = AddText(app, "TEXT", out.text, "Text to encode [stdin]", "");
  CLI::Option* file = AddText(app, "--file", out.file, "Read the text from a file; - is stdin", "FILE");
  AddSwitch(app, "--special", out.special, "Read control tokens such as <|im_end|> in the text as such");
  AddSwitch(app, "--add-special", out.add_special, "Add what the model expects at the ends (BOS, EOS)");
  CLI::Option* json = AddSwitch(app, "--json", out.json, R"(Answer {"ids":[...],"pieces":[...]})");
  CLI::Option* lines =
      AddSwitch(app, "--jsonl", out.json_lines, R"(Answer each line {"text":...} or {"hex":...} with {"ids":[...]})");
  Exclude(text, file);
  Exclude(text, lines);
  Exclude(json, lines);
}

void AddDetokenize(CLI::App& app, DetokenizeOptions& out) {
  AddModel(app, out.model);
  CLI::Option* ids = AddList(app, "IDS", out.ids, "Token ids, separated by spaces or commas [stdin]");
  CLI::Option* file = AddText(app, "--file", out.file, "Read the ids from a file; - is stdin", "FILE");
  AddSwitch(app, "--special", out.special, "Give control tokens as their text");
  CLI::Option* json = AddSwitch(app, "--json", out.json, R"(Answer {"text":...,"hex":...})");
  CLI::Option* lines =
      AddSwitch(app, "--jsonl", out.json_lines, R"(Answer each line {"ids":[...]} with {"text":...,"hex":...})");
  Exclude(ids, file);
  Exclude(ids, lines);
  Exclude(json, lines);
}

void AddTemplate(CLI::App& app, TemplateOptions& out) {
  AddRequired(app, "SOURCE", out.source, "A model, a file with a template, or - for stdin");
  AddText(app, "--context", out.context_file, "JSON object with the variables; - is stdin [none]", "FILE");
  AddParsed(app, "--now", &ParseDateTime, out.now, "What the clock shows: 2024-07-26T12:34:56 [the time it is]",
            "TIME");
}

void AddLogits(CLI::App& app, LogitsOptions& out) {
  AddModel(app, out.model);
  CLI::Option* tokens = AddText(app, "--tokens", out.tokens, "Token ids, separated by commas or spaces", "IDS");
  CLI::Option* file = AddText(app, "--tokens-file", out.tokens_file, "Read the ids from a file; - is stdin", "FILE");
  Exclude(tokens, file);
  AddRequired(app, "-o,--output", out.output, "safetensors file for the F32 tensor 'logits' [positions, vocabulary]",
              "FILE");
  AddSwitch(app, "--all", out.all, "Logits of all positions [of the last alone]");
  AddCount(
      app, "--chunk", 1, 65536, [&out](int64_t n) { out.chunk = n; },
      "Tokens of one pass [512, fewer for huge outputs]");
  AddEngine(app, out.engine);
}

void AddEmbed(CLI::App& app, EmbedOptions& out) {
  AddModel(app, out.model);
  CLI::Option* texts = AddList(app, "TEXT", out.texts, "Texts, each an argument [the lines of stdin]");
  CLI::Option* file = AddText(app, "--file", out.file, "Take each line of a file as a text; - is stdin", "FILE");
  Exclude(texts, file);
  const auto read_pooling = [&out](const std::string& text) {
    out.pooling = text;
    return engine::ParsePooling(text).status();
  };
  AddRead(app, "--pooling", read_pooling,
          "mean, cls, last, none: one for each token, or rank: a classifier's numbers [the model's, else mean]",
          "NAME");
  AddSwitch(app, "--normalize", out.normalize, "Scale each embedding to length 1");
  AddSwitch(app, "--truncate", out.truncate, "Cut texts that are longer than the model's context");
  AddSwitch(app, "--ids", out.ids, "Texts are token ids, as tokenize gives them");
  AddSwitch(app, "--json", out.json, R"(Answer each text with {"index":...,"tokens":...,"embedding":[...]})");
  AddEngine(app, out.engine);
}

void AddConvert(CLI::App& app, ConvertOptions& out) {
  AddModel(app, out.model);
  AddRequired(app, "OUT", out.output, "The .gguf file, or the folder, to write");
  AddWord(
      app, "--to", {"gguf", "hf"}, [&out](const std::string& kind) { out.to_folder = kind == "hf"; },
      "gguf: a file; hf: a folder as Hugging Face has it [a folder where OUT is one or ends with '/', else a file]",
      "KIND");
  AddText(app, "--type", out.type,
          "Type of the matrices: f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, iq4_nl, "
          "iq4_xs, mxfp4, tq1_0, tq2_0; of a folder f32, f16, bf16 [as stored]",
          "TYPE");
  AddCount(
      app, "--split-max-size", 1, int64_t{1} << 50, [&out](int64_t n) { out.max_part_bytes = static_cast<size_t>(n); },
      "Write a GGUF file in parts of at most so many bytes of weights (2G); parts are opened by any of their names, "
      "and "
      "converting them writes one file");
}

void AddCompletion(CLI::App& app, CompletionOptions& out) {
  AddWord(
      app, "SHELL", {"bash", "zsh", "fish"}, [&out](const std::string& shell) { out.shell = shell; },
      "Which shell's script to print: bash, zsh or fish", "");
}

}  // namespace adit::cli
