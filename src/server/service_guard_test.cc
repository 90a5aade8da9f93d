// What stands between clients and the model: rules, and their moderation of texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "server/test_service.h"

namespace adit::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kGuardRules =
    "[[rule]]\nname='mail'\naction='redact'\npii='email'\non='input'\n"
    "[[rule]]\nname='word'\naction='block'\nwords=['forbidden']\n"
    "[[rule]]\nname='letter'\naction='redact'\nregex='[a-z]'\nreplacement='*'\non='output'\n";

TEST_F(ServiceTest, RulesStandBetweenClientsAndTheModel) {
  Start({});
  service_->SetGuard(*guard::ParseRules(kGuardRules, "rules.toml", ""));
  const Response blocked = Ask("POST", "/v1/completions", R"({"prompt": "a forbidden thing"})");
  EXPECT_EQ(blocked.head.status, 400);
  EXPECT_EQ(blocked.json()["error"]["code"], "content_filter");
  EXPECT_THAT(blocked.json()["error"]["message"].get<std::string>(), HasSubstr("'word'"));
  const Response messages =
      Ask("POST", "/v1/messages", R"({"max_tokens": 4, "messages": [{"role": "user", "content": "forbidden"}]})");
  EXPECT_EQ(messages.head.status, 400);
  EXPECT_EQ(messages.json()["error"]["type"], "invalid_request_error");

  const std::string ask = R"("max_tokens": 12, "ignore_eos": true, "temperature": 0)";
  const Response chat = Ask("POST", "/v1/chat/completions",
                            R"({"messages": [{"role": "user", "content": "from ann@example.org"}], )" + ask + "}");
  ASSERT_EQ(chat.head.status, 200) << chat.body;
  const Response plain =
      Ask("POST", "/v1/chat/completions", R"({"messages": [{"role": "user", "content": "from [mail]"}], )" + ask + "}");
  EXPECT_EQ(chat.json()["usage"]["prompt_tokens"], plain.json()["usage"]["prompt_tokens"]);
  EXPECT_EQ(chat.json()["choices"][0]["message"], plain.json()["choices"][0]["message"]);
  const Json verdict = chat.json()["choices"][0]["adit"]["guard"][0];
  EXPECT_EQ(verdict, Json::parse(R"({"rule":"mail","kind":"pii","action":"redact","side":"input","count":1})"));
  const std::string told = chat.json()["choices"][0]["message"]["content"];
  EXPECT_EQ(told.find_first_of("abcdefghijklmnopqrstuvwxyz"), std::string::npos) << told;

  for (const char* field : {R"("logprobs": 1)", R"("return_token_ids": true)"}) {
    const Response refused = Complete(field);
    EXPECT_EQ(refused.head.status, 400) << field;
    EXPECT_EQ(refused.json()["error"]["code"], "unsupported_parameter");
  }
  const std::string metrics = Ask("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("adit_guard_verdicts_total{action=\"block\",rule=\"word\",side=\"input\"} 2"));
  EXPECT_THAT(Log(), HasSubstr(" guard=mail:redact:input:1"));
  EXPECT_THAT(Log(), HasSubstr("error=content_filter guard=word:block:input:1"));
}

TEST_F(ServiceTest, PromptsOfTokenIdsAreJudgedByTheirText) {
  Start({});
  service_->SetGuard(*guard::ParseRules("[[rule]]\nname='w'\naction='block'\nregex='zebra'\n", "r", ""));
  const Json ids = Ask("POST", "/tokenize", R"({"prompt": "a zebra", "add_special_tokens": false})").json()["tokens"];
  EXPECT_EQ(Ask("POST", "/v1/completions", Json{{"prompt", ids}}.dump()).head.status, 400);
  EXPECT_EQ(Ask("POST", "/v1/completions", Json{{"prompt", {{ids}}}}.dump()).head.status, 400);
  EXPECT_EQ(Ask("POST", "/v1/completions", R"({"prompt": [5, 6, 7], "max_tokens": 1})").head.status, 200);
}

TEST_F(ServiceTest, TextsAreModeratedByTheRules) {
  Start({});
  EXPECT_EQ(Ask("POST", "/v1/moderations", R"({"input": "x"})").head.status, 501);
  service_->SetGuard(*guard::ParseRules(kGuardRules, "rules.toml", ""));
  const Json one = Ask("POST", "/v1/moderations", R"({"input": ["a@b.org, forbidden", "17"]})").json();
  ASSERT_EQ(one["results"].size(), 2u);
  EXPECT_EQ(one["results"][0]["flagged"], true);
  EXPECT_EQ(one["results"][0]["categories"]["mail"], true);
  EXPECT_EQ(one["results"][0]["categories"]["word"], true);
  EXPECT_EQ(one["results"][0]["categories"]["hate"], false);
  EXPECT_EQ(one["results"][0]["adit"]["guard"][1]["action"], "block");
  EXPECT_EQ(one["results"][1]["flagged"], false);
  EXPECT_EQ(one["results"][1]["category_scores"]["mail"], 0.0);
  const Json parts =
      Ask("POST", "/v1/moderations", R"({"input": [{"type": "text", "text": "for"}, {"type": "text", "text": "x"}]})")
          .json();
  EXPECT_EQ(parts["results"].size(), 1u);
  for (const char* wrong : {"{}", R"({"input": []})", R"({"input": [1]})",
                            R"({"input": [{"type": "image_url", "image_url": {"url": "x"}}]})"}) {
    EXPECT_EQ(Ask("POST", "/v1/moderations", wrong).head.status, 400) << wrong;
  }
}

}  // namespace
}  // namespace adit::server
