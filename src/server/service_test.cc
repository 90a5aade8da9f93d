#include "server/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "server/test_service.h"

namespace adit::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

TEST_F(ServiceTest, EachRouteHoldsToItsScopeAndLimit) {
  Start({.max_body_bytes = 100'000, .compat = {"ollama"}}, /*with_keys=*/true);
  for (const Route& route : Routes()) {
    const std::string method(route.method);
    std::string path(route.path);
    if (const size_t mark = path.find("{id}"); mark != std::string::npos) path.replace(mark, 4, "x");
    const auto with = [](const char* key) { return HttpHeaders{{"authorization", std::string("Bearer ") + key}}; };
    const bool is_public = route.scope == Scope::kPublic;
    EXPECT_EQ(Ask(method, path).head.status, is_public ? 200 : 401) << path;
    EXPECT_EQ(Ask(method, path, "", with("wrong")).head.status, is_public ? 200 : 401) << path;
    const bool reads = is_public || route.scope == Scope::kRead;
    EXPECT_EQ(Ask(method, path, "", with("reader")).head.status == 403, !reads) << path;
    const bool infers = is_public || route.scope == Scope::kInference;
    EXPECT_EQ(Ask(method, path, "", with("writer")).head.status == 403, !infers) << path;
    const int status = Ask(method, path, "", {{"x-api-key", "boss"}}).head.status;
    EXPECT_TRUE(status != 401 && status != 403 && status != 500) << path << " " << status;
    EXPECT_EQ(Ask(method, path, std::string(100'001, 'x'), with("boss")).head.status, 413) << path;
    EXPECT_EQ(Ask("PATCH", path, "", with("boss")).head.status, 405) << path;
  }
  EXPECT_EQ(Ask("GET", "/nowhere").head.status, 401);
  EXPECT_EQ(Ask("GET", "/nowhere", "", {{"x-api-key", "reader"}}).head.status, 404);
  EXPECT_EQ(Ask("GET", "/v1/models").Header("WWW-Authenticate"), "Bearer");
}

TEST_F(ServiceTest, QuotasOfKeysAreKept) {
  Start({}, /*with_keys=*/true);
  const HttpHeaders poor = {{"x-api-key", "poor"}};
  const std::string body = R"({"prompt": "abc", "max_tokens": 4, "ignore_eos": true})";
  const Response first = Ask("POST", "/v1/completions", body, poor);
  ASSERT_EQ(first.head.status, 200) << first.body;
  EXPECT_EQ(first.Header("x-ratelimit-limit-requests"), "2");
  EXPECT_EQ(first.Header("x-ratelimit-remaining-requests"), "1");
  EXPECT_EQ(first.Header("x-ratelimit-limit-tokens"), "1000");
  const int64_t used = first.json()["usage"]["total_tokens"];
  EXPECT_EQ(first.Header("x-ratelimit-remaining-tokens"), std::to_string(1000 - used));
  EXPECT_EQ(Ask("POST", "/v1/completions", body, poor).head.status, 200);
  const Response refused = Ask("POST", "/v1/completions", body, poor);
  EXPECT_EQ(refused.head.status, 429);
  EXPECT_EQ(refused.json()["error"]["code"], "rate_limit_exceeded");
  EXPECT_NE(refused.Header("Retry-After"), "");
  EXPECT_EQ(refused.Header("x-ratelimit-remaining-requests"), "0");
  EXPECT_EQ(Ask("GET", "/v1/models", "", poor).head.status, 200) << "what costs nothing is not counted";
  EXPECT_EQ(Ask("POST", "/v1/completions", body, {{"x-api-key", "boss"}}).Header("x-ratelimit-limit-requests"), "");
}

TEST_F(ServiceTest, PagesMayAskWhereTheyAreNamed) {
  Start({.cors_origins = {"https://good.org"}}, /*with_keys=*/true);
  const auto preflight = [this](const char* origin) {
    return Ask("OPTIONS", "/v1/completions", "", {{"origin", origin}, {"access-control-request-method", "POST"}});
  };
  EXPECT_EQ(preflight("https://good.org").head.status, 204);
  EXPECT_EQ(preflight("https://good.org").Header("Access-Control-Allow-Origin"), "https://good.org");
  EXPECT_THAT(preflight("https://good.org").Header("Access-Control-Allow-Headers"), HasSubstr("authorization"));
  EXPECT_EQ(preflight("https://bad.org").head.status, 401);
  EXPECT_EQ(preflight("https://bad.org").Header("Access-Control-Allow-Origin"), "");
  const HttpHeaders asked = {{"origin", "https://good.org"}, {"x-api-key", "boss"}};
  EXPECT_EQ(Ask("GET", "/health", "", asked).Header("Access-Control-Allow-Origin"), "https://good.org");
  EXPECT_EQ(Ask("GET", "/health", "", {{"origin", "https://good.org"}}).Header("Access-Control-Allow-Origin"),
            "https://good.org")
      << "a page may read what is wrong, too";
  EXPECT_EQ(Ask("GET", "/health", "", {{"x-api-key", "boss"}}).Header("Access-Control-Allow-Origin"), "");
}

TEST_F(ServiceTest, TenantsAreSeenAndLimited) {
  Start({}, /*with_keys=*/true);
  const HttpHeaders boss = {{"authorization", "Bearer boss"}};
  const HttpHeaders writer = {{"authorization", "Bearer writer"}};
  const auto change = [&](const std::string& body) { return Ask("PUT", "/admin/tenants/b", body, boss); };
  std::vector<std::string> names;
  const Json all = Ask("GET", "/admin/tenants", "", boss).json();
  for (const Json& tenant : all["data"]) names.push_back(tenant["id"]);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("default", "a", "b"));
  EXPECT_EQ(Ask("GET", "/admin/tenants/b", "", boss).json()["rpm"], nullptr);
  EXPECT_EQ(Ask("GET", "/admin/tenants/nobody", "", boss).head.status, 404);
  EXPECT_EQ(Ask("GET", "/admin/tenants/b", "", writer).head.status, 403);
  EXPECT_EQ(change(R"({"rpm": 1, "max_concurrent": 5.0})").json()["rpm"], 1);
  const std::string body = R"({"prompt": "a", "max_tokens": 1})";
  EXPECT_EQ(Ask("POST", "/v1/completions", body, writer).head.status, 200);
  EXPECT_EQ(Ask("POST", "/v1/completions", body, writer).head.status, 429);
  const Json lifted = change(R"({"rpm": null})").json();
  EXPECT_EQ(lifted["rpm"], nullptr);
  EXPECT_EQ(lifted["max_concurrent"], 5) << "what is not told stays";
  EXPECT_EQ(Ask("POST", "/v1/completions", body, writer).head.status, 200);
  EXPECT_EQ(change(R"({"max_kv_bytes": 1})").json()["max_kv_bytes"], 1);
  const Response full = Ask("POST", "/v1/completions", body, writer);
  EXPECT_EQ(full.head.status, 400);
  EXPECT_EQ(full.json()["error"]["code"], "context_length_exceeded");
  EXPECT_THAT(full.json()["error"]["message"].get<std::string>(), HasSubstr("may hold 1 tokens of the cache"));
  EXPECT_EQ(change(R"({"max_kv_bytes": 0})").json()["max_kv_bytes"], nullptr);
  EXPECT_EQ(Ask("POST", "/v1/completions", body, writer).head.status, 200);
  const std::pair<const char*, const char*> kWrong[] = {{R"({"weight": 3})", "weight"},
                                                        {R"({"max_kv_bytes": -1})", "max_kv_bytes"},
                                                        {R"({"rpm": -1})", "rpm"},
                                                        {R"({"color": 1})", "color"}};
  for (const auto& [wrong, param] : kWrong) {
    const Response response = change(wrong);
    EXPECT_EQ(response.head.status, 400) << wrong;
    EXPECT_EQ(response.json()["error"]["param"], param);
  }
  WaitUntilIdle();
}

TEST_F(ServiceTest, AnAnswerThatHasItsStopStringIsComputedNoFurther) {
  Start({});
  const auto tokens_made = [&] { return models_->Find("tiny")->lease->engine().stats().scheduler.output_tokens; };
  const std::string asked = R"("n": 2, "max_tokens": 60, "ignore_eos": true, "temperature": 2, "seed": 3)";
  const Response whole = Complete(asked);
  WaitUntilIdle();
  EXPECT_EQ(tokens_made(), 2 * 60);
  const std::string text = whole.json()["choices"][0]["text"];
  std::string stop;
  for (size_t i = 4; i < text.size() && stop.empty(); ++i) {
    if (text[i] >= 'a' && text[i] <= 'z') stop = text[i];
  }
  ASSERT_FALSE(stop.empty()) << text;
  // The engine may be through before the server's thread has come to look, but not time after time.
  int64_t computed = 2 * 60;
  for (int attempt = 0; attempt < 100 && computed == 2 * 60; ++attempt) {
    const int64_t begin = tokens_made();
    const Json stopped = Complete(asked + R"(, "stop": ")" + stop + "\"").json();
    WaitUntilIdle();
    EXPECT_EQ(stopped["choices"][0]["finish_reason"], "stop");
    computed = tokens_made() - begin;
  }
  EXPECT_LT(computed, 2 * 60);
}

TEST_F(ServiceTest, NoKeyIsNeededWhereThereAreNone) {
  Start({});
  EXPECT_EQ(Ask("GET", "/admin/requests").head.status, 200);
  EXPECT_EQ(Ask("GET", "/health").json()["status"], "ok");
  EXPECT_EQ(Ask("GET", "/version").json()["version"], "1.2.3");
  const Json models = Ask("GET", "/v1/models").json();
  EXPECT_EQ(models["data"].size(), 2U);
  EXPECT_EQ(models["data"][0]["id"], "tiny");
  EXPECT_EQ(Ask("GET", "/v1/models/other").json()["root"], "tiny");
  EXPECT_EQ(Ask("GET", "/v1/models/third").json()["error"]["code"], "model_not_found");
}

TEST_F(ServiceTest, WhileTheModelLoadsOnlyThoseWaitWhoNeedIt) {
  Start({}, false, /*with_model=*/false, {{.name = "tiny", .source = "a", .at_start = true}});
  source_->Hold(true);
  std::thread starter([this] { EXPECT_TRUE(models_->LoadAtStart().ok()); });
  source_->WaitForLoad("a");
  EXPECT_EQ(Ask("GET", "/health/live").head.status, 200);
  const Response ready = Ask("GET", "/health/ready");
  EXPECT_EQ(ready.head.status, 503);
  EXPECT_EQ(ready.json()["progress"], 0.25);
  EXPECT_EQ(ready.json()["error"]["code"], "model_loading");
  const Response completion = Complete(R"("max_tokens": 1)");
  EXPECT_EQ(completion.head.status, 503);
  EXPECT_EQ(completion.Header("Retry-After"), "1");
  EXPECT_EQ(Ask("GET", "/v1/models").json()["data"][0]["status"], "loading");
  EXPECT_THAT(Ask("GET", "/metrics").body, HasSubstr("adit_ready{model=\"tiny\"} 0"));
  EXPECT_THAT(Ask("GET", "/metrics").body, HasSubstr("adit_model_state{state=\"loading\",model=\"tiny\"} 1"));
  source_->Hold(false);
  starter.join();
  EXPECT_EQ(Ask("GET", "/health/ready").head.status, 200);
  EXPECT_EQ(Complete(R"("max_tokens": 1)").head.status, 200);
}

TEST_F(ServiceTest, RequestsChooseAmongModels) {
  Start({}, false, /*with_model=*/false,
        {{.name = "a", .aliases = {"x"}, .source = "a"}, {.name = "b", .source = "b"}});
  EXPECT_EQ(Ask("GET", "/health/ready").head.status, 200) << "what is asked for is loaded then";
  EXPECT_EQ(Ask("GET", "/v1/models/a").json()["status"], "unloaded");
  const Response answer = Complete(R"("max_tokens": 2, "model": "x", "ignore_eos": true)");
  ASSERT_EQ(answer.head.status, 200) << answer.body;
  EXPECT_EQ(answer.json()["usage"]["completion_tokens"], 2);
  EXPECT_EQ(Ask("GET", "/v1/models/x").json()["status"], "loaded");
  EXPECT_EQ(Ask("GET", "/v1/models/b").json()["status"], "unloaded");
  EXPECT_EQ(Complete(R"("max_tokens": 1)").head.status, 200) << "the first is the default";
  const Response unknown = Complete(R"("max_tokens": 1, "model": "c")");
  EXPECT_EQ(unknown.head.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr("'a', 'x', 'b'"));
  EXPECT_EQ(source_->num_loads("b"), 0);
  EXPECT_EQ(Ask("POST", "/v1/completions", R"({"model": "b", )").json()["error"]["code"], "invalid_json");
  EXPECT_EQ(source_->num_loads("b"), 0) << "for no request that is none";
  EXPECT_EQ(Ask("POST", "/tokenize", R"({"prompt": "a", "x": {"model": "a"}, "model": "b"})").head.status, 200);
  EXPECT_EQ(source_->num_loads("b"), 1);
  const std::string metrics = Ask("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("adit_generation_tokens_total{model=\"a\"}"));
  EXPECT_THAT(metrics, HasSubstr("adit_generation_tokens_total{model=\"b\"} 0"));
  EXPECT_THAT(metrics, HasSubstr("adit_time_to_first_token_seconds_count{model=\"a\"} 2"));
}

TEST_F(ServiceTest, ModelsAreAdministered) {
  Start({}, false, /*with_model=*/false, {{.name = "a", .source = "a"}});
  const auto ask = [this](const char* path, const std::string& body) { return Ask("POST", path, body); };
  EXPECT_EQ(ask("/admin/models/load", R"({"model": "a"})").json()["status"], "loaded");
  EXPECT_EQ(ask("/admin/models/load", R"({"model": "store/b"})").json()["status"], "loaded");
  EXPECT_EQ(ask("/admin/models/load", R"({"model": "../b"})").json()["error"]["code"], "model_not_found");
  EXPECT_EQ(ask("/admin/models/load", "{}").json()["error"]["param"], "model");
  EXPECT_EQ(ask("/admin/models/swap", R"({"model": "a", "source": "store/c"})").json()["status"], "swapped");
  EXPECT_EQ(ask("/admin/models/pin", R"({"model": "a"})").json()["pinned"], true);
  EXPECT_EQ(Ask("GET", "/v1/models/a").json()["pinned"], true);
  EXPECT_EQ(ask("/admin/plan", R"({"model": "store/d"})").json()["fits"], true);
  EXPECT_EQ(ask("/admin/models/pull", R"({"model": "good", "wait": true})").json()["status"], "fetched");
  // 202, unless it is there before anybody can say so.
  EXPECT_THAT(ask("/admin/models/pull", R"({"model": "good"})").head.status, testing::AnyOf(200, 202));
  EXPECT_EQ(ask("/admin/models/pull", R"({"model": "bad", "wait": true})").json()["error"]["code"],
            "model_load_failed");
  EXPECT_EQ(ask("/admin/models/unload", R"({"model": "store/b"})").json()["status"], "unloaded");
  EXPECT_EQ(Ask("DELETE", "/admin/models/store/b").json()["status"], "removed");
  EXPECT_EQ(Ask("GET", "/v1/models").json()["data"].size(), 1U);
  const Response events = Ask("GET", "/admin/models/events", "", {{"last-event-id", "0"}});
  EXPECT_EQ(events.head.content_type, "text/event-stream; charset=utf-8");
  EXPECT_THAT(events.body, HasSubstr("id: 1\nevent: model\ndata: {\"model\":\"a\",\"event\":\"loading\""));
  EXPECT_THAT(events.body, HasSubstr("\"event\":\"fetched\""));
}

TEST_F(ServiceTest, ACacheIsWarmedAndFlushed) {
  Start({});
  const std::string text(100, 'x');
  const Response warm = Ask("POST", "/admin/cache/warm", R"({"tenant": "default", "prompt": ")" + text + "\"}");
  ASSERT_EQ(warm.head.status, 200) << warm.body;
  EXPECT_EQ(warm.json()["usage"]["completion_tokens"], 0);
  // The engine's figures are those of the end of a step, which may come after the last event.
  while (Ask("GET", "/admin/cache").json()["cached"] == 0) std::this_thread::yield();
  EXPECT_EQ(Ask("GET", "/admin/cache").json()["data"][0]["model"], "tiny");
  const Json cached = Ask("POST", "/v1/completions", R"({"max_tokens": 1, "prompt": ")" + text + "\"}").json();
  EXPECT_GT(cached["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>(), 0) << cached;
  EXPECT_EQ(Ask("POST", "/admin/cache/flush", R"({"model": "none"})").head.status, 404);
  EXPECT_EQ(Ask("POST", "/admin/cache/flush").json()["models"][0], "tiny");
}

TEST_F(ServiceTest, KernelsAreToldByWhatTheyReach) {
  Start({});
  ASSERT_EQ(Ask("POST", "/v1/completions", R"({"max_tokens": 3, "prompt": "abc", "ignore_eos": true})").head.status,
            200);
  const auto told = [this] { return Ask("GET", "/admin/kernels").json()["data"][0]; };
  while (told()["steps"] < 3) std::this_thread::yield();
  const Json model = told();
  EXPECT_EQ(model["model"], "tiny");
  double share = 0.0;
  for (const Json& kernel : model["kernels"]) {
    EXPECT_EQ(kernel["variant"], "ref");
    EXPECT_GT(kernel["seconds"], 0.0) << kernel;
    share += kernel["share"].get<double>();
    const bool counted = kernel["op"] == "linear" || kernel["op"] == "attention" || kernel["op"] == "output";
    EXPECT_EQ(kernel.contains("gflop_per_s"), counted) << kernel;
    if (counted) {
      EXPECT_GT(kernel["gb_per_s"], 0.0) << kernel;
    }
  }
  EXPECT_NEAR(share, 1.0, 1e-9);
}

TEST_F(ServiceTest, AStreamSaysWhatAWholeAnswerSays) {
  Start({});
  const std::string asked = R"("max_tokens": 20, "seed": 3, "n": 2, "logprobs": 2, "ignore_eos": true)";
  const Response whole = Complete(asked);
  ASSERT_EQ(whole.head.status, 200) << whole.body;
  EXPECT_THAT(whole.Header("server-timing"), HasSubstr("queue;dur="));
  const Response stream = Complete(asked + R"(, "stream": true, "stream_options": {"include_usage": true})");
  EXPECT_EQ(stream.head.content_type, "text/event-stream; charset=utf-8");
  EXPECT_TRUE(stream.body.ends_with("data: [DONE]\n\n"));
  std::vector<std::string> texts(2);
  Json usage;
  for (size_t at = 0; at < stream.body.size();) {
    const size_t end = stream.body.find("\n\n", at);
    const std::string event = stream.body.substr(at + 6, end - at - 6);
    at = end + 2;
    if (event == "[DONE]") break;
    const Json chunk = Json::parse(event);
    EXPECT_EQ(chunk["id"], "cmpl-" + stream.Header("x-request-id"));
    for (const Json& choice : chunk["choices"])
      texts[choice["index"].get<size_t>()] += choice["text"].get<std::string>();
    usage = chunk["usage"];
  }
  const Json body = whole.json();
  EXPECT_EQ(texts[0], body["choices"][0]["text"]);
  EXPECT_EQ(texts[1], body["choices"][1]["text"]);
  EXPECT_EQ(usage["completion_tokens"], body["usage"]["completion_tokens"]);
  EXPECT_EQ(body["usage"]["completion_tokens"], 40);
}

TEST_F(ServiceTest, SeveralPromptsAreAnsweredInTheirOrder) {
  Start({});
  const auto ask = [this](const std::string& prompt) {
    return Ask("POST", "/v1/completions",
               R"({"max_tokens": 6, "seed": 5, "n": 2, "ignore_eos": true, "prompt": )" + prompt + "}")
        .json();
  };
  const Json together = ask(R"(["abc", "xyz", "hello"])");
  ASSERT_EQ(together["choices"].size(), 6U);
  const char* alone[] = {"\"abc\"", "\"xyz\"", "\"hello\""};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(together["choices"][i]["index"], i);
    EXPECT_EQ(together["choices"][i]["text"], ask(alone[i / 2])["choices"][i % 2]["text"]);
  }
}

TEST_F(ServiceTest, WrongRequestsAreTold) {
  Start({.strict_params = true});
  struct Case {
    const char* body;
    int status;
    const char* code;
  };
  const Case cases[] = {
      {"", 400, "invalid_json"},
      {"{", 400, "invalid_json"},
      {"null", 400, "invalid_type"},
      {"[]", 400, "invalid_type"},
      {"{\"prompt\": \"\\ud800\"}", 400, "invalid_json"},
      {"{\"prompt\": \"\xFF\"}", 400, "invalid_json"},
      {"{\"prompt\": \"a\", \"temperature\": 1e400}", 400, "invalid_json"},
      {"{\"prompt\": \"a\", \"model\": \"gpt\"}", 404, "model_not_found"},
      {"{\"prompt\": \"a\", \"colour\": 1}", 400, "unknown_parameter"},
      {"{\"prompt\": [1], \"max_tokens\": 1000}", 400, "context_length_exceeded"},
      {"{\"prompt\": \"a\", \"samplers\": [\"magic\"]}", 400, "invalid_value"},
      {"{\"prompt\": \"a\", \"allowed_token_ids\": [5], \"logit_bias\": {\"5\": false}}", 400, "invalid_value"}};
  for (const Case& wanted : cases) {
    const Response response = Ask("POST", "/v1/completions", wanted.body);
    EXPECT_EQ(response.head.status, wanted.status) << wanted.body << response.body;
    EXPECT_EQ(response.json()["error"]["code"], wanted.code) << wanted.body << response.body;
  }
  const std::string deep = "{\"x\": " + std::string(100'000, '[');
  EXPECT_EQ(Ask("POST", "/v1/completions", deep).head.status, 400);
  EXPECT_EQ(Ask("POST", "/v1/completions", "{}", {{"content-type", "text/plain"}}).head.status, 415);
  EXPECT_EQ(Ask("POST", "/v1/completions", "{}", {{"content-encoding", "gzip"}}).head.status, 415);
  EXPECT_EQ(Ask("POST", "/v1/completions", R"({"prompt": "a"})", {{"x-deadline-ms", "soon"}}).head.status, 400);
  EXPECT_EQ(Complete(R"("max_tokens": 2)").head.status, 200);
}

TEST_F(ServiceTest, AFullQueueIsToldToComeAgain) {
  Start({});
  // Two run and four wait at most: of twenty answers to one request each counts.
  const Response response = Ask("POST", "/v1/completions",
                                R"({"prompt": ["a","b","c","d","e","f","g","h","i","j","k","l"], "max_tokens": 90})");
  EXPECT_EQ(response.head.status, 429) << response.body;
  EXPECT_EQ(response.json()["error"]["code"], "queue_full");
  EXPECT_NE(response.Header("Retry-After"), "");
}

TEST_F(ServiceTest, DrainingTakesNoMore) {
  Start({});
  EXPECT_EQ(Ask("POST", "/admin/drain").head.status, 200);
  EXPECT_EQ(Complete(R"("max_tokens": 1)").json()["error"]["code"], "draining");
  EXPECT_EQ(Ask("GET", "/health").head.status, 503);
  EXPECT_EQ(Ask("POST", "/admin/resume").head.status, 200);
  EXPECT_EQ(Complete(R"("max_tokens": 1)").head.status, 200);
}

TEST_F(ServiceTest, RequestsAreSeenAndCancelled) {
  Start({});
  HttpRequest request{.method = "POST",
                      .path = "/v1/completions",
                      .headers = {{"x-request-id", "mine"}},
                      .body = R"({"prompt": "abc", "max_tokens": 120, "ignore_eos": true, "stream": true})"};
  auto bell = std::make_shared<Bell>();
  const std::unique_ptr<Reply> reply = service_->Handle(std::move(request), [bell] { bell->Ring(); });
  EXPECT_EQ(Ask("GET", "/admin/requests").json()["data"][0]["id"], "mine");
  EXPECT_EQ(Ask("DELETE", "/admin/requests/mine").head.status, 200);
  EXPECT_EQ(Ask("DELETE", "/admin/requests/yours").head.status, 404);
  std::string body;
  while (true) {
    ReplyOutput out;
    reply->Advance(out, false);
    body += out.body;
    if (out.done) break;
    bell->Wait();
  }
  reply->Ended(false);
  EXPECT_THAT(body, HasSubstr(R"("adit":{"stop_reason":"cancelled"})"));
  EXPECT_TRUE(Ask("GET", "/admin/requests").json()["data"].empty());
}

TEST_F(ServiceTest, ADeadlineIsKept) {
  Start({});
  const Response response = Complete(R"("n": 2, "max_tokens": 120, "ignore_eos": true, "deadline_ms": 1)");
  // Either nothing came in time or what came is the answer.
  if (response.head.status == 408) {
    EXPECT_EQ(response.json()["error"]["code"], "deadline_exceeded");
  } else {
    EXPECT_EQ(response.json()["choices"][1]["adit"]["stop_reason"], "deadline") << response.body;
  }
}

TEST_F(ServiceTest, TextsAndTokens) {
  Start({});
  const Json tokens = Ask("POST", "/tokenize", R"({"prompt": "abc", "return_token_strs": true})").json();
  EXPECT_EQ(tokens["count"], tokens["tokens"].size());
  EXPECT_EQ(tokens["token_strs"].size(), tokens["tokens"].size());
  const Json text = Ask("POST", "/v1/detokenize", Json{{"tokens", tokens["tokens"]}}.dump()).json();
  EXPECT_THAT(text["prompt"].get<std::string>(), HasSubstr("abc"));
  EXPECT_EQ(Ask("POST", "/detokenize", R"({"tokens": [999999]})").json()["error"]["param"], "tokens[0]");
  EXPECT_EQ(Ask("POST", "/tokenize", "{}").json()["error"]["code"], "missing_required_parameter");
  const std::string chat = R"({"messages": [{"role": "user", "content": "hi"}], "return_tokens": true})";
  const Json prompt = Ask("POST", "/apply-template", chat).json();
  EXPECT_EQ(prompt["prompt"], "user: hi\n");
  EXPECT_EQ(Ask("POST", "/v1/chat/completions/input_tokens", chat).json()["input_tokens"], prompt["tokens"].size());
  EXPECT_EQ(Ask("POST", "/tokenize", chat).json()["tokens"], prompt["tokens"]);
}

TEST_F(ServiceTest, TenantsFindNothingOfEachOthersInTheCache) {
  Start({}, /*with_keys=*/true);
  const std::string body = R"({"max_tokens": 1, "prompt": ")" + std::string(100, 'x') + "\"}";
  const auto cached = [&](const char* key) {
    return Ask("POST", "/v1/completions", body, {{"x-api-key", key}})
        .json()["usage"]["prompt_tokens_details"]["cached_tokens"]
        .get<int>();
  };
  EXPECT_EQ(cached("writer"), 0);
  EXPECT_GT(cached("writer"), 0);
  EXPECT_EQ(cached("boss"), 0);
}

TEST_F(ServiceTest, TheLogTellsOfRequestsAndNotOfWhatTheySay) {
  Start({}, /*with_keys=*/true);
  EXPECT_EQ(Ask("POST", "/v1/completions", R"({"prompt": "Geheimnis", "max_tokens": 3, "ignore_eos": true})",
                {{"authorization", "bearer writer"}, {"x-request-id", "r-1"}})
                .Header("x-request-id"),
            "r-1");
  (void)Ask("GET", "/v1/models\n\x1b[2J", "", {{"x-api-key", "reader"}});
  const std::string log = Log();
  EXPECT_THAT(log, HasSubstr(" r-1 test writer b POST /v1/completions 200 "));
  EXPECT_THAT(log, HasSubstr("output=3"));
  EXPECT_THAT(log, HasSubstr("/v1/models%0A%1B[2J 404"));
  EXPECT_THAT(log, Not(HasSubstr("Geheimnis")));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
  const RequestRecord record{.id = "r\"2", .method = "GET", .path = "/x", .status = 200};
  EXPECT_EQ(Json::parse(LogLine(record, true, 0.5, LogFormat::kJson, "now"))["status"], 499);
}

TEST_F(ServiceTest, MetricsCount) {
  Start({});
  (void)Complete(R"("max_tokens": 3, "ignore_eos": true)");
  (void)Ask("POST", "/v1/completions", "{");
  WaitUntilIdle();
  const std::string text = Ask("GET", "/metrics").body;
  for (const char* line :
       {"http_requests_total{method=\"POST\",path=\"/v1/completions\",status=\"200\"} 1",
        "adit_requests_rejected_total{code=\"invalid_json\"} 1",
        "adit_request_success_total{finished_reason=\"length\"} 1", "adit_generation_tokens_total{model=\"tiny\"} 3",
        "adit_request_generation_tokens_sum{model=\"tiny\"} 3", "adit_num_requests_running{model=\"tiny\"} 0",
        "adit_time_to_first_token_seconds_count{model=\"tiny\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace adit::server
