#include "server/generation_reply.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "server/answer_judge.h"
#include "server/constraint_fields.h"
#include "server/engine_run.h"
#include "server/guarded_body.h"
#include "server/request_checks.h"
#include "server/service.h"
#include "server/thinking_budget.h"

namespace adit::server {
namespace {

// Events read before what they told is sent: so much and no more is held for a client of a stream.
constexpr size_t kEventsPerPart = 256;

// Whatever keeps the guard model from judging, nothing passes it.
ApiError ErrorOfJudge(const Status& status) {
  ApiError error = ErrorOfEngine(status);
  if (status.code() == StatusCode::kInvalidArgument) error.code = "content_filter";
  return error;
}

// One request from its submission to the last byte of its answer.
class GenerationReply : public Reply {
 public:
  // `conversation`: for the guard model, if there is one.
  GenerationReply(ApiRequest request, const GenerationPlan& plan, Call& call, std::vector<ChatMessage> conversation)
      : model_(call.model),
        request_(std::move(request)),
        answer_(request_, model_->api().tokenizer),
        head_{.id = call.record->id, .created_s = WholeUnixSeconds()},
        writer_(plan.make_writer(answer_, head_)),
        engine_(model_->engine()),
        service_(call.service),
        metrics_(service_.metrics().Of(model_->name())),
        record_(call.record),
        wake_(call.wake),
        rename_(plan.rename),
        judge_(call.service.guard_model(), std::move(conversation), call.wake),
        last_token_s_(answer_.num_choices(), 0.0),
        num_tokens_(answer_.num_choices(), 0),
        counted_(answer_.num_choices(), false) {}

  ~GenerationReply() override { service_.live().Remove(*record_); }

  std::optional<ApiError> Submit() {
    record_->generates = true;
    record_->prompt_tokens = answer_.usage().prompt_tokens;
    metrics_.CountParams(request_.generation.num_answers, request_.generation.max_tokens);
    if (request_.tokenize_seconds > 0.0) metrics_.CountTokenize(request_.tokenize_seconds);
    service_.metrics().CountValidation(SteadySeconds() - record_->start_s);
    if (request_.constraint) compilation_ = engine_.model().grammars().Begin(request_.constraint->spec, wake_);
    std::optional<ApiError> error = Start();
    if (!error) service_.live().Add(record_, wake_);
    return error;
  }

  void Advance(ReplyOutput& out, bool is_ping) override {
    if (!run_ && !start_error_) start_error_ = Start();
    if (start_error_) return Fail(out);
    if (!run_) {
      if (record_->cancel.load(std::memory_order_relaxed)) {
        start_error_ = ErrorOfEngine(Status(StatusCode::kCancelled, "the request was cancelled"));
        Fail(out);
      }
      return;
    }
    if (record_->cancel.load(std::memory_order_relaxed)) run_->Cancel();
    const bool ended = run_->Read(answer_, request_.stream.on ? kEventsPerPart : SIZE_MAX);
    NoteTokens();
    service_.trace().NoteEngine(model_->name(), engine_.stats());
    if (run_->has_more()) wake_();
    if (answer_.error() || TooLate(ended)) return Fail(out);
    // What is to be judged whole is told whole.
    if (judge_.judges_answers() && !(ended && JudgeAnswers())) {
      if (is_ping && request_.stream.on) Ping(out);
      return;
    }
    if (request_.stream.on) {
      AdvanceStream(out, ended, is_ping);
    } else if (ended) {
      SetHead(out, "application/json");
      out.body = writer_->Body();
      out.done = true;
    }
  }

  double ping_interval_s() const override { return request_.stream.on ? request_.stream.ping_s : 0.0; }

  void Ended(bool) override {
    service_.live().Remove(*record_);
    // What still runs is of no use to anybody: dropping it cancels.
    run_.reset();
  }

 private:
  // Hands the request to the engine, once its grammar is there and the guard model has let it pass.
  std::optional<ApiError> Start() {
    std::optional<Result<bool>> passes = judge_.JudgeRequest();
    if (!passes) return std::nullopt;
    if (!passes->ok()) return ErrorOfJudge(passes->status());
    if (!**passes) {
      record_->verdicts.push_back({.rule = judge_.rule(), .side = guard::Side::kInput, .count = 1});
      return ApiError{.code = "content_filter", .message = "the request is blocked by the guard model"};
    }
    if (compilation_ != nullptr) {
      std::optional<Result<GrammarPtr>> grammar = compilation_->result();
      if (!grammar) return std::nullopt;
      compilation_.reset();
      if (!grammar->ok()) return ErrorOfConstraint(*request_.constraint, grammar->status());
      request_.generation.grammar = WithThinkingBudget(request_.generation.grammar, std::move(*grammar).value());
    }
    Result<EngineRun> run = EngineRun::Submit(engine_, request_, wake_);
    if (!run.ok()) {
      ApiError error = ErrorOfEngine(run.status());
      if (error.status == 429) error.retry_after_s = std::ceil(engine_.stats().queue_seconds);
      return error;
    }
    run_.emplace(std::move(run).value());
    record_->submitted_s = SteadySeconds() - record_->start_s;
    return std::nullopt;
  }

  void AdvanceStream(ReplyOutput& out, bool ended, bool is_ping) {
    writer_->Write(out.body);
    if (ended) writer_->WriteEnd(out.body);
    if (is_ping && out.body.empty()) out.body = writer_->ping();
    out.done = ended;
    if (out.body.empty() || headed_) return;
    // Only now, so that what fails before the first token has a status of its own.
    SetStreamHead(out);
  }

  // Whether all answers have been judged; those that are unsafe are withheld. A failure of the judge withholds.
  bool JudgeAnswers() {
    std::vector<std::string> texts;
    for (size_t i = 0; i < answer_.num_choices(); ++i) texts.push_back(answer_.choice(i).Untold());
    const std::vector<bool>* passes = judge_.JudgeAnswers(texts);
    if (passes == nullptr) return false;
    if (std::exchange(withheld_, true)) return true;
    for (size_t i = 0; i < passes->size(); ++i) {
      if ((*passes)[i]) continue;
      answer_.choice(i).Withhold(*judge_.rule());
      if (i == 0) record_->finish_reason = answer_.choice(i).finish_reason();
      guard::AddVerdicts({{.rule = judge_.rule(), .side = guard::Side::kOutput, .count = 1}}, record_->verdicts);
    }
    return true;
  }

  void Ping(ReplyOutput& out) {
    out.body = writer_->ping();
    if (!headed_) SetStreamHead(out);
  }

  void SetStreamHead(ReplyOutput& out) {
    SetHead(out, writer_->stream_type());
    out.head.headers.emplace_back("Cache-Control", "no-cache");
    out.head.headers.emplace_back("X-Accel-Buffering", "no");
  }

  void SetHead(ReplyOutput& out, const char* content_type) {
    headed_ = true;
    HttpHead head{.content_type = content_type};
    AddIgnored(request_.ignored, head);
    const AnswerStats& stats = answer_.choice(0).stats();
    if (stats.total_seconds > 0) {
      const double prefill_s = std::max(0.0, stats.first_token_seconds - stats.queue_seconds);
      const double decode_s = std::max(0.0, stats.total_seconds - stats.first_token_seconds);
      head.headers.emplace_back("server-timing",
                                fmt::format("queue;dur={:.1f}, prefill;dur={:.1f}, decode;dur={:.1f}",
                                            stats.queue_seconds * 1e3, prefill_s * 1e3, decode_s * 1e3));
    }
    out.SetHead(std::move(head));
  }

  // The request's time was over before it had a token.
  bool TooLate(bool ended) const {
    if (!ended || headed_) return false;
    for (size_t i = 0; i < answer_.num_choices(); ++i) {
      const AnswerChoice& choice = answer_.choice(i);
      if (choice.stats().reason != FinishReason::kDeadline || choice.num_tokens() > 0) return false;
    }
    return true;
  }

  void Fail(ReplyOutput& out) {
    std::optional<ApiError> known = start_error_ ? start_error_ : answer_.error();
    if (known && start_error_ && rename_ != nullptr) rename_(*known);
    ApiError error = known.value_or(ApiError{.status = 408,
                                             .type = "timeout_error",
                                             .code = "deadline_exceeded",
                                             .message = "the deadline passed before the first token"});
    if (error.status == 429) error.retry_after_s = std::ceil(engine_.stats().queue_seconds);
    record_->error_code = error.code;
    if (headed_) {
      writer_->WriteFailure(error, out.body);
      out.done = true;
      return;
    }
    headed_ = true;
    ErrorReply(error, *record_)->Advance(out, false);
  }

  // Tells the record and the metrics of what has come.
  void NoteTokens() {
    const double now_s = SteadySeconds();
    int64_t total = 0;
    for (size_t i = 0; i < answer_.num_choices(); ++i) {
      const AnswerChoice& choice = answer_.choice(i);
      const int64_t news = choice.num_tokens() - num_tokens_[i];
      total += choice.num_tokens();
      if (news > 0 && num_tokens_[i] > 0) {
        const double each_s = (now_s - last_token_s_[i]) / static_cast<double>(news);
        for (int64_t k = 0; k < news; ++k) metrics_.CountInterval(each_s);
      }
      if (news > 0) {
        if (record_->first_token_s == 0.0) record_->first_token_s = now_s - record_->start_s;
        last_token_s_[i] = now_s;
        num_tokens_[i] = choice.num_tokens();
      }
      if (choice.has_stats() && !counted_[i]) {
        counted_[i] = true;
        metrics_.CountAnswer(choice.stats(), choice.finish_reason());
        metrics_.CountDetokenize(choice.detokenize_seconds());
        record_->longest_answer = std::max(record_->longest_answer, choice.num_tokens());
        if (i == 0) record_->finish_reason = choice.finish_reason();
        guard::AddVerdicts(choice.own_verdicts(), record_->verdicts);
        record_->queue_s = choice.stats().queue_seconds;
        record_->num_chunks = choice.stats().num_chunks;
      }
    }
    record_->cached_tokens = answer_.usage().cached_tokens;
    record_->output_tokens.store(total, std::memory_order_relaxed);
  }

  const ModelLease model_;  // gone last
  ApiRequest request_;
  ApiAnswer answer_;  // of request_
  const AnswerHead head_;
  const std::unique_ptr<AnswerWriter> writer_;  // of answer_
  engine::Engine& engine_;
  Service& service_;
  ModelMetrics& metrics_;
  const std::shared_ptr<RequestRecord> record_;
  const std::function<void()> wake_;
  void (*const rename_)(ApiError& error);              // as GenerationPlan has it
  std::shared_ptr<grammar::Compilation> compilation_;  // until there is a result
  std::optional<ApiError> start_error_;
  std::optional<EngineRun> run_;
  bool headed_ = false;
  AnswerJudge judge_;
  bool withheld_ = false;  // what the judge has not let pass
  // Of each choice: when its last token came, how many had come then, and whether its cost is counted.
  std::vector<double> last_token_s_;
  std::vector<int64_t> num_tokens_;
  std::vector<bool> counted_;
};

// What headers say of a request, where the body does not.
std::optional<ApiError> ReadHeaders(const HttpRequest& http, const nlohmann::json& body, ApiRequest& request) {
  const auto is_given = [&body](const char* key) { return body.contains(key) && !body[key].is_null(); };
  const auto number = [&http](const char* name) -> std::optional<int64_t> {
    const std::string text(http.Header(name));
    if (text.empty()) return std::nullopt;
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    return *end == '\0' ? value : INT64_MIN;
  };
  const auto wrong = [](const char* name, const char* range) {
    return ApiError{
        .code = "invalid_value", .message = fmt::format("the header {} is in {}", name, range), .param = name};
  };
  if (const std::optional<int64_t> priority = number("x-priority"); priority && !is_given("priority")) {
    if (*priority < -1000 || *priority > 1000) return wrong("x-priority", "-1000..1000");
    request.generation.priority = static_cast<int32_t>(*priority);
  }
  if (const std::optional<int64_t> ms = number("x-deadline-ms"); ms && !is_given("deadline_ms")) {
    if (*ms < 1 || *ms > 3'600'000) return wrong("x-deadline-ms", "1..3600000");
    request.generation.timeout_s = static_cast<double>(*ms) * 1e-3;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<Reply> Generate(Call& call, const nlohmann::json& body, GenerationPlan plan) {
  Service& service = call.service;
  const ServedModel& served = *call.model;
  if (service.draining()) return ErrorReply(*service.NotReady(), *call.record);
  const auto refuse = [&](ApiError error) {
    if (plan.rename != nullptr) plan.rename(error);
    return ErrorReply(error, *call.record);
  };
  std::variant<ApiRequest, ApiError> read = ReadRequest(
      body, plan.kind, served.api(), plan.text, service.TenantTokens(call.holder.tenant, call.holder.quota, served));
  if (auto* error = std::get_if<ApiError>(&read)) return refuse(std::move(*error));
  ApiRequest& request = std::get<ApiRequest>(read);
  if (service.guard() != nullptr) {
    if (auto error = CheckGuarded(request, *service.guard()); error) return refuse(*std::move(error));
    request.guard = service.guard();
    request.input_verdicts = call.record->verdicts;
  }
  request.ignored.insert(request.ignored.end(), plan.ignored.begin(), plan.ignored.end());
  if (auto error = CheckAsked(call, request.model, request.ignored); error) return refuse(*std::move(error));
  if (auto error = ReadHeaders(call.request, body, request); error) return refuse(*std::move(error));
  // The engine keeps tenants apart by their index; one that it does not know shares the first one's.
  request.generation.tenant = served.TenantIndex(call.holder.tenant);
  request.generation.cache_salt = call.holder.tenant + '\n' + request.generation.cache_salt;
  std::vector<ChatMessage> conversation;
  if (service.guard_model() != nullptr) conversation = ConversationOf(body, plan.kind, served.api().tokenizer);
  auto reply = std::make_unique<GenerationReply>(std::move(request), plan, call, std::move(conversation));
  if (auto error = reply->Submit(); error) return refuse(*std::move(error));
  return reply;
}

}  // namespace adit::server
