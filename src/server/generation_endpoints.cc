// OpenAI's /v1/chat/completions and /v1/completions.
#include <nlohmann/json.hpp>
#include <variant>

#include "server/chat_writer.h"
#include "server/generation_reply.h"
#include "server/guarded_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

std::unique_ptr<Reply> OpenAi(Call& call, ApiKind kind) {
  const std::variant<nlohmann::json, ApiError> body = ReadGuardedBody(call);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  return Generate(call, std::get<nlohmann::json>(body),
                  {.kind = kind, .make_writer = &MakeChatWriter, .text = call.request.body});
}

}  // namespace

std::unique_ptr<Reply> ChatCompletions(Call& call) { return OpenAi(call, ApiKind::kChat); }
std::unique_ptr<Reply> Completions(Call& call) { return OpenAi(call, ApiKind::kCompletion); }

}  // namespace adit::server
