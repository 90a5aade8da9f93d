// The web page: a chat and a dashboard, out of the program itself.
#include <fmt/core.h>

#include <string>
#include <string_view>

#include "server/service.h"
#include "server/ui_files.h"

namespace adit::server {
namespace {

constexpr std::string_view kFolder = "/ui/";
// Scripts and styles of the page alone, no one to talk to but this server, and no page around it.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

const char* TypeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "image/svg+xml";
}

}  // namespace

std::unique_ptr<Reply> ShowUi(Call& call) {
  const std::string_view route = call.record->route;
  const std::string_view name = route.starts_with(kFolder) ? route.substr(kFolder.size()) : "index.html";
  for (const UiFile& file : UiFiles()) {
    if (file.name != name || !call.service.options().with_ui) continue;
    HttpHead head{.content_type = TypeOf(name)};
    // The page names its files relative to the folder that it is in.
    if (call.request.path == kFolder) {
      head.status = 308;
      head.headers = {{"Location", "../ui"}};
      return std::make_unique<WholeReply>(std::move(head), "");
    }
    head.headers = {{"Content-Security-Policy", kPolicy},
                    {"X-Content-Type-Options", "nosniff"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Opener-Policy", "same-origin"},
                    {"Cache-Control", "no-cache"}};
    return std::make_unique<WholeReply>(std::move(head), std::string(file.text));
  }
  return ErrorReply({.status = 404, .code = "not_found", .message = fmt::format("there is no {}", call.request.path)},
                    *call.record);
}

}  // namespace adit::server
