// A body of a request of any interface, from bytes to what the engine would be asked.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/utf8.h"
#include "server/api_request.h"
#include "server/embedding_request.h"
#include "server/json_fields.h"
#include "server/messages_request.h"
#include "server/responses_request.h"
#include "server/test_tokenizer.h"

namespace {

using namespace adit;          // NOLINT(google-build-using-namespace)
using namespace adit::server;  // NOLINT(google-build-using-namespace)

constexpr char kTemplate[] =
    "{% for m in messages %}<|start|>{{ m.role }}{{ m.name }}:{{ m.content }}{% for c in m.tool_calls %}"
    "{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}<|end|>{% endfor %}"
    "{% if tools %}{# <tool_call> #}{{ tools | tojson }}{% endif %}{{ reasoning_effort }}"
    "{% if add_generation_prompt %}<|start|>assistant<think>{% endif %}";

void CheckError(const ApiError& error) {
  ADIT_CHECK(error.status >= 400 && error.status < 500 && !error.code.empty());
  ADIT_CHECK(IsValidUtf8(ErrorText(error)));
}

void Check(const std::variant<ApiRequest, ApiError>& read, const ApiModel& model) {
  if (const auto* error = std::get_if<ApiError>(&read)) {
    CheckError(*error);
    return;
  }
  const ApiRequest& request = std::get<ApiRequest>(read);
  ADIT_CHECK(!request.generation.prompt.empty());
  ADIT_CHECK(static_cast<int64_t>(request.generation.prompt.size()) < model.max_context);
  ADIT_CHECK(request.generation.max_tokens >= 0 && request.generation.max_tokens < model.max_context);
}

// Requests of other interfaces, and the chats that become of them.
void CheckOthers(const nlohmann::json& json, const ApiModel& model) {
  for (const MessagesUse use : {MessagesUse::kAnswer, MessagesUse::kCount}) {
    const auto chat = ChatOfMessages(json, use);
    if (const auto* error = std::get_if<ApiError>(&chat)) {
      CheckError(*error);
    } else {
      Check(ReadRequest(*std::get<ChatBody>(chat).body, ApiKind::kChat, model), model);
    }
  }
  const auto find = [](const std::string& id) {
    return id == "old" ? std::make_shared<nlohmann::json>(nlohmann::json::array()) : nullptr;
  };
  const auto response = ReadResponsesRequest(json, ResponsesUse::kAnswer, "new", find);
  if (const auto* error = std::get_if<ApiError>(&response)) {
    CheckError(*error);
  } else {
    Check(ReadRequest(*std::get<ResponsesRequest>(response).chat.body, ApiKind::kChat, model), model);
  }
  const EmbeddingModel embedder{.api = model, .dim = 8};
  const auto embeddings = ReadEmbeddings(json, embedder);
  if (const auto* error = std::get_if<ApiError>(&embeddings)) CheckError(*error);
  const auto rerank = ReadRerank(json, embedder);
  if (const auto* error = std::get_if<ApiError>(&rerank)) CheckError(*error);
  const auto score = ReadScore(json, embedder);
  if (const auto* error = std::get_if<ApiError>(&score)) CheckError(*error);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ByteTokenizer tokenizer(/*adds_bos=*/true, /*adds_eos=*/false);
  static const Result<ChatPrompt> chat = ChatPrompt::Create(kTemplate, tokenizer);
  static const ApiModel model{.tokenizer = tokenizer,
                              .chat = chat,
                              .name = "m",
                              .vocab_size = tokenizer.vocab_size(),
                              .max_context = 4096,
                              .fim = FimFormat{.prefix = "<s>", .suffix = "</s>", .middle = "<|start|>"},
                              .output = {.tools = ToolSyntax::kHermes, .reasoning = ReasoningSyntax::kThink},
                              .streams = true};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<nlohmann::json> json = ParseJson(text);
  if (!json.ok() || !json->is_object()) return 0;
  Check(ReadRequest(*json, ApiKind::kChat, model, text), model);
  Check(ReadRequest(*json, ApiKind::kCompletion, model, text), model);
  CheckOthers(*json, model);
  return 0;
}
