#include "cli/repl_commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "cli/saved_talk.h"
#include "cli/signals.h"
#include "cli/talk_flags.h"

namespace adit::cli {
namespace {

// What a command was given, and what it works on.
struct CommandCall {
  std::string_view argument;
  Session& session;
  Output& screen;
};

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

Status NeedNoArgument(const CommandCall& call) {
  if (call.argument.empty()) return Status();
  return InvalidArgument("takes nothing behind it, got '{}'", OneLine(call.argument));
}

Status NeedTurn(const CommandCall& call) {
  if (!call.session.conversation().turns().empty()) return Status();
  return FailedPrecondition("nothing was said yet");
}

// An error of a file, after which the talk goes on.
Status FileError(const Status& status) {
  return status.code() == StatusCode::kIo ? FailedPrecondition("{}", status.message()) : status;
}

// The finish of an answer, whatever became of it.
Result<Next> Answered(const Result<engine::FinishReason>& reason, Output& screen) {
  if (!reason.ok()) {
    if (reason.status().code() == StatusCode::kIo) return reason.status();
    (void)ReportError(reason.status());
  }
  ClearInterrupt();
  ADIT_RETURN_IF_ERROR(screen.Write("\n"));
  return Next::kGoOn;
}

Result<Next> Leave(const CommandCall& call) {
  ADIT_RETURN_IF_ERROR(NeedNoArgument(call));
  return Next::kLeave;
}

Result<Next> Clear(const CommandCall& call) {
  ADIT_RETURN_IF_ERROR(NeedNoArgument(call));
  call.session.conversation().Clear();
  ADIT_RETURN_IF_ERROR(call.screen.Write("The conversation is forgotten.\n"));
  return Next::kGoOn;
}

Result<Next> Undo(const CommandCall& call) {
  ADIT_RETURN_IF_ERROR(NeedNoArgument(call));
  ADIT_RETURN_IF_ERROR(NeedTurn(call));
  const Turn last = call.session.conversation().TakeLast();
  ADIT_RETURN_IF_ERROR(call.screen.Write(fmt::format("Taken back: {}\n", OneLine(last.text, 60))));
  return Next::kGoOn;
}

Result<Next> Retry(const CommandCall& call) {
  ADIT_RETURN_IF_ERROR(NeedNoArgument(call));
  ADIT_RETURN_IF_ERROR(NeedTurn(call));
  return Answered(call.session.Retry(), call.screen);
}

Result<Next> System(const CommandCall& call) {
  Conversation& conversation = call.session.conversation();
  if (call.argument.empty()) {
    const std::string text = conversation.system() ? *conversation.system() : "(the template's own)";
    ADIT_RETURN_IF_ERROR(call.screen.WriteText(text + "\n"));
    return Next::kGoOn;
  }
  const bool removes = call.argument == "\"\"";
  ADIT_RETURN_IF_ERROR(conversation.SetSystem(removes ? std::nullopt : std::optional(std::string(call.argument))));
  ADIT_RETURN_IF_ERROR(call.screen.Write("The system message is set.\n"));
  return Next::kGoOn;
}

Result<Next> Set(const CommandCall& call) {
  if (call.argument.empty()) {
    ADIT_RETURN_IF_ERROR(call.screen.Write(TalkFlagHelp()));
    return Next::kGoOn;
  }
  const size_t space = call.argument.find_first_of(" \t");
  if (space == std::string_view::npos) return InvalidArgument("wanted a name and a value: /set temp 0.5");
  std::string name(call.argument.substr(0, space));
  std::replace(name.begin(), name.end(), '_', '-');
  const std::string value(Trim(call.argument.substr(space)));
  ADIT_RETURN_IF_ERROR(call.session.Set(name, value));
  ADIT_RETURN_IF_ERROR(call.screen.Write(fmt::format("{} is {}.\n", name, OneLine(value))));
  return Next::kGoOn;
}

std::string Settings(Session& session) {
  const RunOptions& options = session.options();
  const sample::SamplingParams& sampling = options.sampling;
  const std::string system = session.conversation().system().value_or("(the template's own)");
  std::string text;
  const auto line = [&text](std::string_view name, const auto& value) {
    text += fmt::format("{:<16} {}\n", name, value);
  };
  line("model", OneLine(options.model));
  line("context", fmt::format("{} tokens", session.max_context()));
  line("said", fmt::format("{} messages and their answers", session.conversation().turns().size()));
  line("system", OneLine(system, 200));
  line("temp", sampling.temperature);
  line("top-k", sampling.top_k);
  line("top-p", sampling.top_p);
  line("min-p", sampling.min_p);
  line("repeat-penalty", sampling.repetition_penalty);
  line("seed", session.seed());
  line("max-tokens", options.max_tokens);
  return text;
}

Result<Next> Show(const CommandCall& call) {
  if (call.argument.empty()) {
    ADIT_RETURN_IF_ERROR(call.screen.Write(Settings(call.session)));
    return Next::kGoOn;
  }
  if (call.argument != "all") return InvalidArgument("wanted nothing or 'all', got '{}'", OneLine(call.argument));
  for (const Turn& turn : call.session.conversation().turns()) {
    ADIT_RETURN_IF_ERROR(call.screen.WriteText(fmt::format("user: {}\nassistant: {}\n", turn.text, turn.answer)));
  }
  return Next::kGoOn;
}

Result<Next> Save(const CommandCall& call) {
  if (call.argument.empty()) return InvalidArgument("wanted the path of a file");
  const Conversation& conversation = call.session.conversation();
  const SavedTalk talk{
      .model = call.session.options().model, .system = conversation.system(), .turns = conversation.turns()};
  if (const Status status = WriteSavedTalk(talk, std::string(call.argument)); !status.ok()) return FileError(status);
  ADIT_RETURN_IF_ERROR(call.screen.Write(
      fmt::format("{} messages and their answers are saved in {}.\n", talk.turns.size(), OneLine(call.argument))));
  return Next::kGoOn;
}

Result<Next> Load(const CommandCall& call) {
  if (call.argument.empty()) return InvalidArgument("wanted the path of a file");
  Result<SavedTalk> read = ReadSavedTalk(std::string(call.argument));
  if (!read.ok()) return FileError(read.status());
  SavedTalk talk = std::move(read).value();
  Conversation& conversation = call.session.conversation();
  ADIT_RETURN_IF_ERROR(conversation.SetSystem(std::move(talk.system)));
  conversation.SetTurns(std::move(talk.turns));
  ADIT_RETURN_IF_ERROR(
      call.screen.Write(fmt::format("{} messages and their answers are loaded.\n", conversation.turns().size())));
  return Next::kGoOn;
}

Result<Next> Help(const CommandCall& call);

struct ReplCommand {
  std::string_view name;
  std::string_view argument;
  std::string_view help;
  Result<Next> (*run)(const CommandCall& call);
};

constexpr ReplCommand kCommands[] = {
    {"/?", "", "this help", &Help},
    {"/bye", "", "leave (Ctrl-D does the same)", &Leave},
    {"/clear", "", "forget what was said; the system message stays", &Clear},
    {"/load", "FILE", "take what was said from a file that /save wrote", &Load},
    {"/retry", "", "answer the last message again, with another seed", &Retry},
    {"/save", "FILE", "write what was said into a file", &Save},
    {"/set", "[NAME VALUE]", "change a flag: /set temp 0.5; without: what there is to change", &Set},
    {"/show", "[all]", "settings, or all that was said", &Show},
    {"/system", "[TEXT]", "change the system message (\"\": the template's own), or show it", &System},
    {"/undo", "", "take the last message and its answer back", &Undo},
};

Result<Next> Help(const CommandCall& call) {
  std::string text;
  for (const ReplCommand& command : kCommands) {
    text += fmt::format("{:<20} {}\n", fmt::format("{} {}", command.name, command.argument), command.help);
  }
  text +=
      "A line that ends with \\ goes on with the next one; \"\"\" begins and ends a message of several lines.\n"
      "Ctrl-C stops an answer.\n";
  ADIT_RETURN_IF_ERROR(call.screen.Write(text));
  return Next::kGoOn;
}

}  // namespace

Result<Next> RunReplCommand(std::string_view line, Session& session, Output& screen) {
  const std::string_view name = line.substr(0, line.find_first_of(" \t"));
  const std::string_view known_name = name == "/help" ? "/?" : name;
  const auto* command = std::find_if(std::begin(kCommands), std::end(kCommands),
                                     [known_name](const ReplCommand& known) { return known.name == known_name; });
  if (command == std::end(kCommands)) {
    PrintNote(fmt::format("no command '{}'; /? lists them", OneLine(name, 60)));
    return Next::kGoOn;
  }
  const Result<Next> next = command->run({Trim(line.substr(name.size())), session, screen});
  if (next.ok() || next.status().code() == StatusCode::kIo) return next;
  PrintNote(fmt::format("{}: {}", command->name, next.status().message()));
  return Next::kGoOn;
}

Result<Next> AnswerInRepl(std::string_view message, Session& session, Output& screen) {
  return Answered(session.Answer(message), screen);
}

}  // namespace adit::cli
