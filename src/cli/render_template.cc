#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "chat/template.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/model_file.h"
#include "cli/output.h"

namespace adit::cli {
namespace {

constexpr std::string_view kGgufMagic = "GGUF";

Result<std::string> TemplateOfModel(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<formats::GgufFile> file, OpenModel(path));
  const Result<std::string_view> source = file->metadata().GetString("tokenizer.chat_template");
  if (source.ok()) return std::string(*source);
  if (source.status().code() != StatusCode::kNotFound) return source.status();
  return FailedPrecondition("{}: the model has no chat template", path);
}

// Only a file is looked into: what a pipe has given is gone.
bool IsGguf(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  char magic[kGgufMagic.size()] = {};
  if (file == nullptr || std::fread(magic, 1, sizeof(magic), file.get()) != sizeof(magic)) return false;
  return std::string_view(magic, sizeof(magic)) == kGgufMagic;
}

bool IsFolder(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// The text of a template: out of a model, or the file itself.
Result<std::string> TemplateSource(const std::string& source) {
  if (source.ends_with(".gguf") || IsGguf(source) || IsFolder(source)) return TemplateOfModel(source);
  return ReadFileOrStdin(source);
}

}  // namespace

Result<int> Run(const TemplateOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const std::string source, TemplateSource(options.source));
  std::string context = "{}";
  if (options.context_file) {
    ADIT_ASSIGN_OR_RETURN(context, ReadFileOrStdin(*options.context_file));
  }
  const Result<chat::Template> chat_template = chat::Template::Parse(source);
  if (!chat_template.ok()) return AsRuntimeError(chat_template.status());
  chat::RenderOptions render;
  if (options.now) render.now = *options.now;
  const Result<std::string> text = chat_template->RenderText(context, render);
  if (!text.ok()) return AsRuntimeError(text.status());
  ADIT_RETURN_IF_ERROR(Stdout().WriteText(*text));
  return kExitOk;
}

}  // namespace adit::cli
