// adit manual.
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "adit/version.h"
#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace adit::cli {
namespace {

// Text of a manual page: hyphens are minus signs, and a line may not begin like a request.
std::string Roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && escaped.empty()) escaped += "\\&";
    if (c == '-') {
      escaped += "\\-";
    } else if (c == '\\') {
      escaped += "\\e";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Synopsis(const CommandTree& command, const std::string& path) {
  std::string text = Roff(path);
  for (const ArgumentText& argument : command.arguments) {
    const std::string name = Roff(argument.name);
    text += argument.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  if (!command.commands.empty()) text += " COMMAND";
  return text;
}

std::string FlagItem(const FlagText& flag) {
  std::string names;
  for (const std::string& name : flag.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Roff(name));
  if (!flag.type.empty()) names += fmt::format(" \\fI{}\\fR", Roff(flag.type));
  std::string text = fmt::format(".TP\n{}\n{}\n", names, Roff(flag.help));
  if (!flag.words.empty()) {
    text += "One of";
    for (size_t i = 0; i < flag.words.size(); ++i)
      text += fmt::format("{}{}", i == 0 ? " " : ", ", Roff(flag.words[i]));
    text += ".\n";
  }
  return text;
}

void AppendCommand(const CommandTree& command, const std::string& path, std::string& page) {
  page += fmt::format(".SS \"{}\"\n{}.\n", Synopsis(command, path), Roff(command.help));
  for (const ArgumentText& argument : command.arguments) {
    if (argument.help.empty()) continue;
    page += fmt::format(".TP\n\\fI{}\\fR\n{}\n", Roff(argument.name), Roff(argument.help));
  }
  for (const FlagText& flag : command.flags) page += FlagItem(flag);
  for (const CommandTree& child : command.commands) AppendCommand(child, fmt::format("{} {}", path, child.name), page);
}

constexpr std::string_view kTail = R"(.SH EXIT STATUS
.TP
0
Done.
.TP
2
Wrong usage: an unknown flag, a value out of range, a prompt that does not fit the context.
.TP
3
There is no such model.
.TP
4
Not enough memory for the model or its context.
.TP
5
Anything else: a broken or unsupported model, a template that fails, a file or disk error.
.TP
130, 143
Stopped by SIGINT, by SIGTERM.
.SH ENVIRONMENT
.TP
ADIT_ISA
Kernel set, where \fB\-\-isa\fR is absent.
.TP
ADIT_THREADS
Number of threads, where \fB\-\-threads\fR is absent.
)";

}  // namespace

std::string ManualPage(const CommandTree& tree, const std::string& version) {
  std::string page = fmt::format(".TH ADIT 1 \"\" \"adit {}\" \"User Commands\"\n", Roff(version));
  page += fmt::format(".SH NAME\nadit \\- {}\n", Roff(tree.help));
  page += ".SH SYNOPSIS\n\\fBadit\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n";
  page +=
      ".SH DESCRIPTION\nMODEL is everywhere the path of a GGUF file or of a folder as Hugging Face has it.\n"
      "Defaults of flags stand in brackets.\n";
  page += ".SH OPTIONS\n";
  for (const FlagText& flag : tree.flags) page += FlagItem(flag);
  page += ".SH COMMANDS\n";
  for (const CommandTree& command : tree.commands) AppendCommand(command, fmt::format("adit {}", command.name), page);
  return page + std::string(kTail);
}

Result<int> Run(const ManualOptions&) {
  ADIT_RETURN_IF_ERROR(Stdout().Write(ManualPage(DescribeCommandLine(), kVersion)));
  return kExitOk;
}

}  // namespace adit::cli
