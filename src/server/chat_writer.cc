#include "server/chat_writer.h"

#include <nlohmann/json.hpp>

#include "server/answer_chunks.h"

namespace adit::server {
namespace {

class ChatWriter : public AnswerWriter {
 public:
  ChatWriter(ApiAnswer& answer, const AnswerHead& head) : answer_(answer), head_(head), chunks_(answer, head) {}

  std::string Body() override { return JsonText(answer_.Body(head_)); }
  void Write(std::string& out) override { chunks_.Write(out); }
  void WriteEnd(std::string& out) override { chunks_.WriteEnd(out); }
  void WriteFailure(const ApiError& error, std::string& out) override { AnswerChunks::WriteFailure(error, out); }
  const char* ping() const override { return AnswerChunks::kPing; }

 private:
  ApiAnswer& answer_;
  const AnswerHead head_;
  AnswerChunks chunks_;
};

}  // namespace

std::unique_ptr<AnswerWriter> MakeChatWriter(ApiAnswer& answer, const AnswerHead& head) {
  return std::make_unique<ChatWriter>(answer, head);
}

}  // namespace adit::server
