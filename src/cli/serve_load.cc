#include "cli/serve_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cli/http_client.h"
#include "cli/printable.h"
#include "cli/prompt_words.h"
#include "cli/streamed_answer.h"
#include "hub/http_client.h"
#include "sched/arrival_feed.h"
#include "sched/outcome_log.h"
#include "sched/timeline.h"
#include "server/json_fields.h"

namespace adit::cli {
namespace {

using Json = nlohmann::json;
using sched::Ending;

constexpr size_t kMaxErrorBytes = 64 << 10;
constexpr size_t kMaxModelBytes = 256;
constexpr size_t kMaxModelsBytes = size_t{4} << 20;

// What a request that was refused counts as, beside the error by its name.
Ending EndingOfStatus(int64_t status, const std::string& name) {
  if (status == 429 || status == 503) return Ending::kQueueFull;
  if (status == 408) return Ending::kLate;
  if (status == 413 || name.ends_with("context_length_exceeded")) return Ending::kTooLong;
  return Ending::kFailed;
}

// The prompts of a workload's requests, as a server takes them.
class PromptWriter {
 public:
  PromptWriter(const ServeTarget& target, const ServeLoadOptions& options)
      : is_chat_(target.endpoint == ServedEndpoint::kChat), options_(options) {}

  // The prompt that begins with what came before, if anything did, and goes on with these tokens.
  Json Prompt(const Json& history, std::span<const int32_t> tokens) const {
    if (options_.sends_ids) {
      Json ids = history.is_null() ? Json::array() : history;
      for (const int32_t token : tokens) ids.push_back(token);
      return ids;
    }
    if (!is_chat_) {
      return history.is_null() ? PromptText(tokens) : history.get<std::string>() + "\n" + PromptText(tokens);
    }
    Json messages = history.is_null() ? Json::array() : history;
    const auto num_shared = static_cast<size_t>(options_.system_tokens);
    if (history.is_null() && num_shared > 0 && num_shared < tokens.size()) {
      messages.push_back({{"role", "system"}, {"content", PromptText(tokens.subspan(0, num_shared))}});
      tokens = tokens.subspan(num_shared);
    }
    messages.push_back({{"role", "user"}, {"content", PromptText(tokens)}});
    return messages;
  }

  // What a request that follows begins with. Ids of answers are not told: their texts stand for them.
  Json History(Json prompt, const std::string& answer) const {
    if (is_chat_) {
      prompt.push_back({{"role", "assistant"}, {"content", answer}});
    } else if (prompt.is_string()) {
      prompt = prompt.get<std::string>() + answer;
    }
    return prompt;
  }

 private:
  const bool is_chat_;
  const ServeLoadOptions options_;
};

class ServerLoad {
 public:
  ServerLoad(const ServeTarget& target, const sched::Workload& workload, const ServeLoadOptions& options,
             std::unique_ptr<HttpClient> client)
      : target_(target),
        workload_(workload),
        options_(options),
        prompts_(target, options),
        client_(std::move(client)),
        feed_(workload),
        log_(workload) {
    const bool is_chat = target.endpoint == ServedEndpoint::kChat;
    url_ = target.url + (is_chat ? "/chat/completions" : "/completions");
    body_ = {
        {"model", target.model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}, {"temperature", 0}};
    if (target.ignore_eos) body_["ignore_eos"] = true;
    body_.update(Json::parse(target.extra_body));
    prompt_key_ = is_chat ? "messages" : "prompt";
  }

  Status Run(const LoadProgress& progress) {
    start_s_ = SteadySeconds();
    while (log_.num_ended() < workload_.num_requests()) {
      while (MaySend() && feed_.NextArrival() <= Now()) {
        late_most_s_ = std::max(late_most_s_, Now() - feed_.NextArrival());
        ADIT_RETURN_IF_ERROR(Send(feed_.Take()));
      }
      const double wait_s = MaySend() ? std::max(0.0, feed_.NextArrival() - Now()) : 1.0;
      const auto on_bytes = [this](int64_t id, int64_t status, std::string_view bytes) { Take(id, status, bytes); };
      ADIT_RETURN_IF_ERROR(client_->Run(wait_s, on_bytes, [this](int64_t id, const HttpEnd& end) { Finish(id, end); }));
      Sample();
      progress(static_cast<double>(log_.num_ended()) / static_cast<double>(workload_.num_requests()));
    }
    return Status();
  }

  BenchRun TakeRun() {
    BenchRun run{.summary = sched::Summarize(log_.outcomes(), workload_.tenants().size(), options_.objectives),
                 .timeline = timeline_.Points()};
    run.summary.from_outside = true;
    run.summary.mean_running = timeline_.mean_running();
    run.summary.late_most_s = late_most_s_;
    run.summary.pieces = num_pieces_;
    for (const auto& [name, count] : errors_) run.errors.push_back({.name = name, .count = count});
    std::stable_sort(run.errors.begin(), run.errors.end(),
                     [](const BenchError& a, const BenchError& b) { return a.count > b.count; });
    return run;
  }

 private:
  // A request on its way.
  struct Live {
    Live(Json asked, bool keeps_text) : prompt(std::move(asked)), answer(keeps_text) {}
    Json prompt;  // kept only where another request follows
    StreamedAnswer answer;
    std::string error_body;
    int64_t num_pieces = 0;
    double last_s = 0.0;  // of a piece
  };

  double Now() const { return SteadySeconds() - start_s_; }
  bool MaySend() const {
    return options_.max_concurrency == 0 || static_cast<int64_t>(client_->num_active()) < options_.max_concurrency;
  }

  Status Send(int64_t index) {
    const sched::WorkloadRequest& wanted = workload_.request(index);
    const std::vector<int32_t> tokens = feed_.TakePrompt(index);
    Json history;
    if (const auto found = histories_.find(index); found != histories_.end()) {
      history = std::move(found->second);
      histories_.erase(found);
    }
    Json prompt = prompts_.Prompt(history, tokens);
    Json body = body_;
    body["max_tokens"] = wanted.output_tokens;
    body[prompt_key_] = prompt;
    const bool is_followed = feed_.HasFollowers(index);
    const std::string text = body.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
    live_.emplace(index, std::make_unique<Live>(is_followed ? std::move(prompt) : Json(), is_followed));
    log_.Arrive(index, Now(), static_cast<int64_t>(tokens.size()));
    return client_->Start(index, url_, &text);
  }

  void Take(int64_t index, int64_t status, std::string_view bytes) {
    Live& live = *live_.at(index);
    if (status != 200) {
      live.error_body += bytes.substr(0, kMaxErrorBytes - std::min(live.error_body.size(), kMaxErrorBytes));
      return;
    }
    const size_t num_pieces = live.answer.Append(bytes);
    const double now_s = Now();
    for (size_t i = 0; i < num_pieces; ++i) log_.Token(index, now_s);
    if (num_pieces == 0) return;
    if (live.num_pieces == 0) ++num_running_;
    live.num_pieces += static_cast<int64_t>(num_pieces);
    live.last_s = now_s;
    num_pieces_ += static_cast<int64_t>(num_pieces);
    new_pieces_ += static_cast<int64_t>(num_pieces);
  }

  void Finish(int64_t index, const HttpEnd& end) {
    const auto found = live_.find(index);
    const std::unique_ptr<Live> live = std::move(found->second);
    live_.erase(found);
    if (live->num_pieces > 0) --num_running_;
    std::string error = end.failure;
    Ending ending = Ending::kFailed;
    if (error.empty() && end.status != 200) {
      error = ErrorName(end.status, live->error_body);
      ending = EndingOfStatus(end.status, error);
    }
    if (error.empty()) error = live->answer.error();
    if (error.empty() && !live->answer.done()) error = "cut off";
    if (error.empty()) return Complete(index, *live);
    ++errors_[error];
    log_.End(index, ending, Now());
    for (const int64_t follower : feed_.Drop(index)) log_.End(follower, Ending::kSkipped, Now());
  }

  void Complete(int64_t index, Live& live) {
    const double now_s = Now();
    sched::RequestOutcome& outcome = log_[index];
    outcome.prompt_tokens = live.answer.prompt_tokens().value_or(outcome.prompt_tokens);
    outcome.cached_tokens = live.answer.cached_tokens().value_or(0);
    outcome.output_tokens = live.answer.output_tokens().value_or(outcome.output_tokens);
    // Tokens without a text have come by the end.
    if (live.num_pieces == 0) outcome.first_token_s = now_s;
    log_.End(index, Ending::kComplete, live.num_pieces > 0 ? live.last_s : now_s);
    if (!feed_.HasFollowers(index)) return;
    const Json history = prompts_.History(std::move(live.prompt), live.answer.text());
    feed_.Complete(index, {}, now_s);
    for (const int64_t next : feed_.FollowersOf(index)) histories_[next] = history;
  }

  void Sample() {
    const double now_s = Now();
    timeline_.Add(sampled_s_, now_s,
                  {.running = num_running_,
                   .waiting = static_cast<int64_t>(live_.size()) - num_running_,
                   .output_tokens = std::exchange(new_pieces_, 0)});
    sampled_s_ = now_s;
  }

  const ServeTarget& target_;
  const sched::Workload& workload_;
  const ServeLoadOptions options_;
  const PromptWriter prompts_;
  const std::unique_ptr<HttpClient> client_;
  std::string url_;
  Json body_;  // of each request, without its prompt and length
  const char* prompt_key_ = "";
  sched::ArrivalFeed feed_;
  sched::OutcomeLog log_;
  sched::Timeline timeline_;
  std::unordered_map<int64_t, std::unique_ptr<Live>> live_;
  std::unordered_map<int64_t, Json> histories_;  // of requests that will come
  std::unordered_map<std::string, int64_t> errors_;
  double start_s_ = 0.0;
  double sampled_s_ = 0.0;  // that the timeline covers
  double late_most_s_ = 0.0;
  int64_t num_running_ = 0;  // that have got something
  int64_t num_pieces_ = 0;
  int64_t new_pieces_ = 0;  // since the last sample
};

}  // namespace

Result<std::string> ParseServerUrl(const std::string& url) {
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  const bool has_scheme = base.starts_with("http://") || base.starts_with("https://");
  const size_t host = base.find("://") + 3;
  if (!has_scheme || base.size() <= host || base.find_first_of(" \t\r\n?#", 0) != std::string::npos) {
    return InvalidArgument("'{}' is no URL of a server, such as http://127.0.0.1:8000", OneLine(url, 100));
  }
  return base.find('/', host) == std::string::npos ? base + "/v1" : base;
}

Result<std::optional<std::string>> FirstModelOf(const ServeTarget& target) {
  ADIT_ASSIGN_OR_RETURN(hub::Url url, hub::ParseUrl(target.url + "/models"));
  ADIT_ASSIGN_OR_RETURN(
      const hub::HttpAnswer answer,
      hub::ExchangeText({.url = std::move(url), .token = target.api_key}, {.use_proxies = false}, kMaxModelsBytes));
  if (answer.status != 200) return Io("{}/models: status {}", target.url, answer.status);
  const Result<Json> json = server::ParseJson(answer.body);
  const auto first = Json::json_pointer("/data/0/id");
  if (!json.ok() || !json->contains(first) || !(*json)[first].is_string()) return std::optional<std::string>();
  std::string id = (*json)[first].get<std::string>();
  if (id.size() > kMaxModelBytes) return std::optional<std::string>();
  return std::optional<std::string>(std::move(id));
}

Result<BenchRun> LoadServer(const ServeTarget& target, const sched::Workload& workload, const ServeLoadOptions& options,
                            const LoadProgress& progress) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<HttpClient> client, HttpClient::Create(target.timeout_s, target.api_key));
  ServerLoad load(target, workload, options, std::move(client));
  ADIT_RETURN_IF_ERROR(load.Run(progress));
  return load.TakeRun();
}

}  // namespace adit::cli
