// Endpoints of models that make embeddings or classify: /v1/embeddings, /v1/rerank, /v1/score, /v1/classify, /pooling.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "server/answer_writer.h"
#include "server/embedding_json.h"
#include "server/embedding_request.h"
#include "server/guarded_body.h"
#include "server/ollama_request.h"
#include "server/request_checks.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Finish = std::function<std::string(const engine::Embeddings&)>;

bool AllFinite(const engine::Embeddings& embeddings) {
  return std::all_of(embeddings.begin(), embeddings.end(), [](const std::vector<float>& one) {
    return std::all_of(one.begin(), one.end(), [](float number) { return std::isfinite(number); });
  });
}

// One request from its submission to its answer.
class EmbeddingReply : public Reply {
 public:
  EmbeddingReply(Call& call, std::vector<std::string> ignored, Finish finish)
      : model_(call.model),
        service_(call.service),
        record_(call.record),
        wake_(call.wake),
        ignored_(std::move(ignored)),
        finish_(std::move(finish)) {}
  ~EmbeddingReply() override { service_.live().Remove(*record_); }

  std::optional<ApiError> Submit(engine::EmbeddingEngine& engine, EmbeddingWish& wish) {
    record_->prompt_tokens = wish.num_tokens;
    Result<engine::EmbeddingHandle> handle = engine.Submit(std::move(wish.request), wake_);
    if (!handle.ok()) return ErrorOfEngine(handle.status());
    handle_.emplace(std::move(handle).value());
    service_.live().Add(record_, wake_);
    return std::nullopt;
  }

  void Advance(ReplyOutput& out, bool) override {
    if (record_->cancel.load(std::memory_order_relaxed)) {
      handle_.reset();
      return Fail({.status = 503,
                   .type = "service_unavailable_error",
                   .code = "cancelled",
                   .message = "the request was cancelled by who runs the server"},
                  out);
    }
    std::optional<Result<engine::Embeddings>> result = handle_->TryTake();
    if (!result) return;
    if (!result->ok()) return Fail(ErrorOfRun(result->status()), out);
    if (!AllFinite(**result)) {
      return Fail(ErrorOfRun(Status(StatusCode::kInternal, "the model's embedding holds what is no number")), out);
    }
    HttpHead head;
    AddIgnored(ignored_, head);
    out.SetHead(std::move(head));
    out.body = finish_(**result);
    out.done = true;
  }

  void Ended(bool) override {
    service_.live().Remove(*record_);
    handle_.reset();
  }

 private:
  void Fail(const ApiError& error, ReplyOutput& out) { ErrorReply(error, *record_)->Advance(out, false); }

  const ModelLease model_;  // gone last
  Service& service_;
  const std::shared_ptr<RequestRecord> record_;
  const std::function<void()> wake_;
  const std::vector<std::string> ignored_;
  const Finish finish_;
  std::optional<engine::EmbeddingHandle> handle_;
};

EmbeddingModel ModelOf(const ServedModel& served) {
  return {.api = served.api(),
          .dim = served.model().spec().hidden_dim,
          .pooling = served.embedder().options().pooling,
          .labels = served.model().spec().classifier.labels};
}

// Reads a request by `read`, has its texts embedded, and answers with what `finish` makes of request and embeddings.
template <typename Request, typename MakeBody>
std::unique_ptr<Reply> Embed(Call& call,
                             std::variant<Request, ApiError> (*read)(const nlohmann::json&, const EmbeddingModel&),
                             MakeBody make_body) {
  Service& service = call.service;
  const ServedModel& served = *call.model;
  if (service.draining()) return ErrorReply(*service.NotReady(), *call.record);
  const std::variant<nlohmann::json, ApiError> body = ReadGuardedBody(call);
  if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
  std::variant<Request, ApiError> result = read(std::get<nlohmann::json>(body), ModelOf(served));
  if (const auto* error = std::get_if<ApiError>(&result)) return ErrorReply(*error, *call.record);
  Request& request = std::get<Request>(result);
  if (const auto error = CheckAsked(call, request.wish.model, request.wish.ignored); error) {
    return ErrorReply(*error, *call.record);
  }
  std::vector<std::vector<int32_t>> texts = std::exchange(request.wish.request.texts, {});
  EmbeddingWish wish = request.wish;
  wish.request.texts = std::move(texts);
  auto reply = std::make_unique<EmbeddingReply>(
      call, wish.ignored, [request = std::move(request), make_body](const engine::Embeddings& embeddings) {
        return make_body(request, embeddings);
      });
  if (const std::optional<ApiError> error = reply->Submit(served.embedder(), wish); error) {
    return ErrorReply(*error, *call.record);
  }
  return reply;
}

}  // namespace

std::unique_ptr<Reply> Embeddings(Call& call) {
  const int64_t dim = call.model->model().spec().hidden_dim;
  return Embed<EmbeddingsRequest>(call, &ReadEmbeddings,
                                  [dim](const EmbeddingsRequest& request, const engine::Embeddings& embeddings) {
                                    return EmbeddingsBody(request, embeddings, dim);
                                  });
}

std::unique_ptr<Reply> OllamaEmbed(Call& call) {
  const std::string model = call.model->name();
  return Embed<EmbeddingsRequest>(
      call, &ReadOllamaEmbed, [model](const EmbeddingsRequest& request, const engine::Embeddings& embeddings) {
        return JsonText({{"model", model}, {"embeddings", embeddings}, {"prompt_eval_count", request.wish.num_tokens}});
      });
}

std::unique_ptr<Reply> Rerank(Call& call) {
  return Embed<RerankRequest>(
      call, &ReadRerank, [id = call.record->id](const RerankRequest& request, const engine::Embeddings& embeddings) {
        return RerankBody(request, embeddings, id);
      });
}

std::unique_ptr<Reply> Score(Call& call) {
  return Embed<ScoreRequest>(call, &ReadScore,
                             [id = call.record->id](const ScoreRequest& request, const engine::Embeddings& embeddings) {
                               return ScoreBody(request, embeddings, id, WholeUnixSeconds());
                             });
}

std::unique_ptr<Reply> Classify(Call& call) {
  const auto make_body = [id = call.record->id, labels = call.model->model().spec().classifier.labels](
                             const ClassifyRequest& request, const engine::Embeddings& outputs) {
    return ClassifyBody(request, outputs, labels, id, WholeUnixSeconds());
  };
  return Embed<ClassifyRequest>(call, &ReadClassify, make_body);
}

std::unique_ptr<Reply> Pool(Call& call) {
  const auto make_body = [id = call.record->id](const ClassifyRequest& request, const engine::Embeddings& outputs) {
    return PoolingBody(request, outputs, id, WholeUnixSeconds());
  };
  return Embed<ClassifyRequest>(call, &ReadPooling, make_body);
}

}  // namespace adit::server
