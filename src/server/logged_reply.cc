#include "server/logged_reply.h"

#include <fmt/core.h>

#include <utility>

#include "base/clock.h"
#include "server/service.h"

namespace adit::server {
namespace {

class LoggedReply : public Reply {
 public:
  LoggedReply(std::shared_ptr<RequestRecord> record, std::unique_ptr<Reply> reply, const ReplyBooks& books)
      : record_(std::move(record)), reply_(std::move(reply)), books_(books) {}

  void Advance(ReplyOutput& out, bool is_ping) override {
    try {
      reply_->Advance(out, is_ping);
    } catch (const std::exception& failure) {
      // Of the libraries; a bug of ours all the same. One request ends, the others go on.
      out = {};
      if (record_->status == 0) ErrorReply(ErrorOfException(failure), *record_)->Advance(out, false);
      out.done = true;
    }
    const double now_s = SteadySeconds();
    if (record_->metered) Charge(now_s);
    if (!out.has_head) return;
    record_->status = out.head.status;
    if (record_->metered || record_->status == 429) books_.quotas.AddHeaders(record_->key_id, now_s, out.head);
    AddCors(out.head);
    const double ms = (now_s - record_->start_s) * 1e3;
    out.head.headers.emplace_back("x-request-id", record_->id);
    if (record_->error_shape == ErrorShape::kAnthropic) out.head.headers.emplace_back("request-id", record_->id);
    out.head.headers.emplace_back("openai-processing-ms", fmt::format("{:.0f}", ms));
  }
  double ping_interval_s() const override { return reply_->ping_interval_s(); }
  void Ended(bool client_gone) override {
    reply_->Ended(client_gone);
    if (record_->metered) books_.quotas.Leave(record_->key_id);
    const double now_s = SteadySeconds();
    const double seconds = now_s - record_->start_s;
    books_.trace.NoteRequest(*record_, client_gone, now_s);
    if (books_.spans != nullptr) books_.spans->NoteRequest(*record_, client_gone, now_s);
    books_.metrics.Count(*record_, client_gone, seconds);
    books_.log.Write(*record_, client_gone, seconds);
  }

 private:
  // What has come since the last time.
  void Charge(double now_s) {
    const int64_t tokens = record_->prompt_tokens + record_->output_tokens.load(std::memory_order_relaxed);
    if (tokens > charged_tokens_) books_.quotas.Charge(record_->key_id, tokens - charged_tokens_, now_s);
    charged_tokens_ = tokens;
  }

  void AddCors(HttpHead& head) const {
    if (record_->cors_origin.empty()) return;
    head.headers.emplace_back("Access-Control-Allow-Origin", record_->cors_origin);
    head.headers.emplace_back("Access-Control-Expose-Headers", "*");
    head.headers.emplace_back("Vary", "Origin");
  }

  const std::shared_ptr<RequestRecord> record_;
  const std::unique_ptr<Reply> reply_;
  const ReplyBooks books_;
  int64_t charged_tokens_ = 0;
};

}  // namespace

std::unique_ptr<Reply> MakeLoggedReply(std::shared_ptr<RequestRecord> record, std::unique_ptr<Reply> reply,
                                       const ReplyBooks& books) {
  return std::make_unique<LoggedReply>(std::move(record), std::move(reply), books);
}

ApiError ErrorOfException(const std::exception& failure) {
  return {.status = 500, .type = "server_error", .code = "internal_error", .message = failure.what()};
}

}  // namespace adit::server
