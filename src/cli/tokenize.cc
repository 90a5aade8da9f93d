#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/model_file.h"
#include "cli/output.h"
#include "cli/token_lines.h"
#include "cli/units.h"
#include "engine/model_tokenizer.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/tokenizer_json.h"

namespace adit::cli {
namespace {

// Whether `path` is a tokenizer.json or a folder that holds one.
bool IsTokenizerJson(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return false;
  if (!S_ISDIR(info.st_mode)) return path.ends_with(".json");
  return ::stat((path + "/tokenizer.json").c_str(), &info) == 0;
}

Result<std::unique_ptr<tokenizer::Tokenizer>> OpenTokenizer(const std::string& model) {
  if (IsTokenizerJson(model)) return tokenizer::LoadTokenizerJson(model);
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, OpenModel(model));
  Result<std::unique_ptr<tokenizer::Tokenizer>> tokenizer = engine::OpenTokenizer(*file);
  if (!tokenizer.ok()) return InsideModel(tokenizer.status());
  return tokenizer;
}

// Descriptor of `file`, or stdin. Closes what it opened.
class InputFile {
 public:
  static Result<InputFile> Open(const std::optional<std::string>& file) {
    if (!file || *file == "-") return InputFile(nullptr);
    std::FILE* opened = std::fopen(file->c_str(), "rbe");
    if (opened == nullptr) return InvalidArgument("{}: cannot open: {}", *file, std::strerror(errno));
    return InputFile(opened);
  }
  int fd() const { return file_ ? ::fileno(file_.get()) : STDIN_FILENO; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit InputFile(std::FILE* file) : file_(file) {}
  std::unique_ptr<std::FILE, Close> file_;
};

// Answers each line of the input with a line. One that cannot be answered gets {"error": ...}; the others are answered
// all the same, and the exit code tells.
Result<int> AnswerLines(const std::optional<std::string>& file,
                        const std::function<Result<std::string>(std::string_view)>& answer) {
  ADIT_ASSIGN_OR_RETURN(const InputFile input, InputFile::Open(file));
  LineReader reader(input.fd());
  int exit_code = kExitOk;
  std::string line;
  while (true) {
    const Result<LineReader::Outcome> outcome = reader.Next(line);
    if (!outcome.ok() && outcome.status().code() != StatusCode::kInvalidArgument) return outcome.status();
    if (outcome.ok() && *outcome == LineReader::Outcome::kEnd) return exit_code;
    const Result<std::string> text = outcome.ok() ? answer(line) : Result<std::string>(outcome.status());
    if (!text.ok()) exit_code = kExitRuntime;
    ADIT_RETURN_IF_ERROR(Stdout().Write((text.ok() ? *text : ErrorJson(text.status().message())) + "\n"));
  }
}

Status CheckIds(const tokenizer::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  for (const int32_t id : ids) {
    if (id >= tokenizer.vocab_size()) {
      return InvalidArgument("token id {} is not in 0..{}", id, tokenizer.vocab_size() - 1);
    }
  }
  return Status();
}

Result<std::string> DecodeIds(const tokenizer::Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool special) {
  ADIT_RETURN_IF_ERROR(CheckIds(tokenizer, ids));
  return tokenizer.Decode(ids, special);
}

Result<std::vector<int32_t>> IdsOf(const DetokenizeOptions& options) {
  std::string text;
  if (!options.ids.empty()) {
    for (const std::string& word : options.ids) text.append(word).append(" ");
  } else {
    ADIT_ASSIGN_OR_RETURN(text, ReadFileOrStdin(options.file.value_or("-")));
  }
  return ParseIds(text);
}

}  // namespace

Result<int> Run(const TokenizeOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<tokenizer::Tokenizer> tokenizer, OpenTokenizer(options.model));
  if (options.json_lines) {
    return AnswerLines(options.file, [&](std::string_view line) -> Result<std::string> {
      ADIT_ASSIGN_OR_RETURN(const std::string text, ParseTextLine(line));
      return IdsJson(tokenizer->Encode(text, options.special, options.add_special));
    });
  }
  std::string text;
  if (options.text) {
    text = *options.text;
  } else {
    ADIT_ASSIGN_OR_RETURN(text, ReadFileOrStdin(options.file.value_or("-")));
  }
  const std::vector<int32_t> ids = tokenizer->Encode(text, options.special, options.add_special);
  ADIT_RETURN_IF_ERROR(Stdout().WriteText((options.json ? IdsAndPiecesJson(*tokenizer, ids) : JoinIds(ids)) + "\n"));
  return kExitOk;
}

Result<int> Run(const DetokenizeOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<tokenizer::Tokenizer> tokenizer, OpenTokenizer(options.model));
  if (options.json_lines) {
    return AnswerLines(options.file, [&](std::string_view line) -> Result<std::string> {
      ADIT_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, ParseIdsLine(line));
      ADIT_ASSIGN_OR_RETURN(const std::string text, DecodeIds(*tokenizer, ids, options.special));
      return TextJson(text);
    });
  }
  ADIT_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, IdsOf(options));
  ADIT_ASSIGN_OR_RETURN(const std::string text, DecodeIds(*tokenizer, ids, options.special));
  if (options.json) {
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(TextJson(text) + "\n"));
  } else {
    // Into a pipe or file go the bytes and nothing else.
    ADIT_RETURN_IF_ERROR(Stdout().WriteText(text));
    if (Stdout().is_terminal()) ADIT_RETURN_IF_ERROR(Stdout().Write("\n"));
  }
  return kExitOk;
}

}  // namespace adit::cli
