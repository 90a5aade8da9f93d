#ifndef ADIT_SERVER_GENERATION_REPLY_H_
#define ADIT_SERVER_GENERATION_REPLY_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer_writer.h"
#include "server/api_request.h"
#include "server/routes.h"

namespace adit::server {

// How an interface's request is generated from and answered.
struct GenerationPlan {
  ApiKind kind = ApiKind::kChat;
  MakeAnswerWriter make_writer;
  // Has an error speak of the interface's own fields; none: those of `body`.
  void (*rename)(ApiError& error) = nullptr;
  std::vector<std::string> ignored;  // fields that have been passed over already
  // `body` as it came, for the order of members in schemas and tools; empty: it does not matter.
  std::string_view text = {};
};

// Reads `body`, submits it to the engine, and gives the reply that tells the answer; or the one that tells of what is
// wrong.
std::unique_ptr<Reply> Generate(Call& call, const nlohmann::json& body, GenerationPlan plan);

}  // namespace adit::server

#endif  // ADIT_SERVER_GENERATION_REPLY_H_
