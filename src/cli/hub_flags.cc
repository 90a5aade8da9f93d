// Flags of the commands that fetch models, keep them, and ask a server about them.
#include <string>

#include "cli/command_flags.h"

namespace adit::cli {
namespace {

void AddJson(CLI::App& app, bool& out) { AddSwitch(app, "--json", out, "Answer as JSON"); }

void AddUrl(CLI::App& app, std::optional<std::string>& out) {
  AddText(app, "--url", out, "The server's address [ADIT_URL, else http://127.0.0.1:8000]; ADIT_API_KEY is its key",
          "URL");
}

}  // namespace

void AddPull(CLI::App& app, PullOptions& out) {
  AddRequired(app, "MODEL", out.model, "org/name[:quant][@revision]");
  AddText(app, "--quant", out.quant, "Which quantisation [the usual one that there is]", "NAME");
  AddText(app, "--revision", out.revision, "A branch, tag or commit [main]", "REV");
  AddList(app, "--include", out.include, "Fetch the files that match instead; may be given again", "GLOB");
  AddText(app, "--alias", out.alias, "Another name for the model", "NAME");
  AddCount(
      app, "--connections", 1, 32, [&out](int64_t n) { out.connections = n; }, "Parts of a file at once [4]");
  AddSwitch(
      app, "--no-resume", [&out] { out.resume = false; }, "Begin anew, whatever an earlier run has left");
  AddSwitch(app, "--verify", out.verify, "Hash files again that are there already");
  AddJson(app, out.json);
}

void AddListModels(CLI::App& app, ListOptions& out) { AddJson(app, out.json); }

void AddRemove(CLI::App& app, RemoveOptions& out) {
  AddList(app, "MODEL", out.names, "Models, or other names of some, which alone go then");
  AddJson(app, out.json);
}

void AddCopy(CLI::App& app, CopyOptions& out) {
  AddRequired(app, "MODEL", out.model, "A model of the store, or the path of one");
  AddRequired(app, "NAME", out.name, "Another name for it");
  AddJson(app, out.json);
}

void AddPs(CLI::App& app, PsOptions& out) {
  AddUrl(app, out.url);
  AddJson(app, out.json);
}

void AddStop(CLI::App& app, StopOptions& out) {
  AddRequired(app, "MODEL", out.model, "The model to unload");
  AddUrl(app, out.url);
  AddJson(app, out.json);
}

}  // namespace adit::cli
