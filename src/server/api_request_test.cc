#include "server/api_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTemplate[] =
    "{% for m in messages %}<|start|>{{ m.role }}{% if m.name %}({{ m.name }}){% endif %}"
    "{% if m.tool_call_id %}#{{ m.tool_call_id }}{% endif %}:{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant:{% endif %}"
    "{% if messages[0].content == 'refuse' %}{{ raise_exception('refused') }}{% endif %}";
constexpr int64_t kMaxContext = 200;

class ApiRequestTest : public testing::Test {
 protected:
  std::variant<ApiRequest, ApiError> Read(const std::string& body, ApiKind kind) const {
    const ApiModel model{.tokenizer = tokenizer_,
                         .chat = has_template_ ? chat_ : no_chat_,
                         .name = "served",
                         .vocab_size = tokenizer_.vocab_size(),
                         .max_context = kMaxContext,
                         .default_max_tokens = default_max_tokens_};
    return ReadRequest(nlohmann::json::parse(body), kind, model);
  }
  // `fields` go beside a message or a prompt: R"("n": 2)".
  std::string ChatBody(const std::string& fields) const {
    return R"({"messages": [{"role": "user", "content": "hi"}])" + (fields.empty() ? "" : ", " + fields) + "}";
  }
  std::string CompletionBody(const std::string& fields) const {
    return R"({"prompt": "ab")" + (fields.empty() ? "" : ", " + fields) + "}";
  }
  ApiRequest Chat(const std::string& fields) const { return Good(Read(ChatBody(fields), ApiKind::kChat)); }
  ApiRequest Completion(const std::string& fields) const {
    return Good(Read(CompletionBody(fields), ApiKind::kCompletion));
  }
  ApiError ChatError(const std::string& fields) const { return Bad(Read(ChatBody(fields), ApiKind::kChat)); }
  ApiError CompletionError(const std::string& fields) const {
    return Bad(Read(CompletionBody(fields), ApiKind::kCompletion));
  }
  std::string ChatText(const std::string& messages) const {
    const ApiRequest request = Good(Read(R"({"messages": )" + messages + "}", ApiKind::kChat));
    return *tokenizer_.Decode(request.generation.prompt, /*with_special=*/true);
  }
  ApiError MessagesError(const std::string& messages) const {
    return Bad(Read(R"({"messages": )" + messages + "}", ApiKind::kChat));
  }
  ApiError PromptError(const std::string& prompt) const {
    return Bad(Read(R"({"prompt": )" + prompt + "}", ApiKind::kCompletion));
  }

  static ApiRequest Good(std::variant<ApiRequest, ApiError> read) {
    if (const auto* error = std::get_if<ApiError>(&read)) {
      ADD_FAILURE() << error->code << " " << error->param << ": " << error->message;
      return {};
    }
    return std::get<ApiRequest>(std::move(read));
  }
  static ApiError Bad(const std::variant<ApiRequest, ApiError>& read) {
    const auto* error = std::get_if<ApiError>(&read);
    return error != nullptr ? *error : ApiError{.code = "none"};
  }

  ByteTokenizer tokenizer_{/*adds_bos=*/true, /*adds_eos=*/true};
  Result<ChatPrompt> chat_ = ChatPrompt::Create(kTemplate, tokenizer_);
  Result<ChatPrompt> no_chat_ = FailedPrecondition("there is no template");
  bool has_template_ = true;
  std::optional<int64_t> default_max_tokens_;
};

TEST_F(ApiRequestTest, HasOpenAisDefaults) {
  const ApiRequest request = Chat("");
  EXPECT_EQ(request.model, "served");
  EXPECT_FALSE(request.logprobs || request.stream.on);
  EXPECT_TRUE(request.echo.empty());
  EXPECT_TRUE(request.stops.empty());
  const engine::GenerationRequest& generation = request.generation;
  EXPECT_EQ(*tokenizer_.Decode(generation.prompt, true), "<s><|start|>user:hi<|end|><|start|>assistant:");
  EXPECT_EQ(generation.sampling.temperature, 1.0);
  EXPECT_EQ(generation.sampling.top_p, 1.0);
  EXPECT_EQ(generation.sampling.top_k, 0);
  EXPECT_EQ(generation.sampling.top_logprobs, -1);
  EXPECT_EQ(generation.max_tokens, kMaxContext - static_cast<int64_t>(generation.prompt.size()));
  EXPECT_EQ(generation.num_answers, 1);
  EXPECT_EQ(Completion("").generation.max_tokens, 16);
  EXPECT_NE(Chat("").generation.sampling.seed, Chat("").generation.sampling.seed);
}

TEST_F(ApiRequestTest, TakesItsFields) {
  const ApiRequest request =
      Chat(R"("model": "m", "temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "seed": 7,
      "repetition_penalty": 1.5, "repeat_last_n": 8, "presence_penalty": -1, "frequency_penalty": 2.0, "n": 2.0,
      "best_of": 3, "logit_bias": {"65": 5, "66": -100, "67": false}, "stop_token_ids": [1, 2.0], "ignore_eos": true,
      "max_completion_tokens": 20, "max_tokens": 5, "min_tokens": 3, "priority": -4, "cache_salt": "s",
      "user": "u", "nobody_knows": {"this": 1})");
  EXPECT_EQ(request.model, "m");
  const engine::GenerationRequest& generation = request.generation;
  EXPECT_EQ(generation.sampling.temperature, 0.5);
  EXPECT_EQ(generation.sampling.top_p, 0.9);
  EXPECT_EQ(generation.sampling.top_k, 5);
  EXPECT_EQ(generation.sampling.min_p, 0.1);
  EXPECT_EQ(generation.sampling.seed, 7);
  EXPECT_EQ(generation.sampling.repetition_penalty, 1.5);
  EXPECT_EQ(generation.sampling.repeat_last_n, 8);
  EXPECT_EQ(generation.sampling.presence_penalty, -1);
  EXPECT_EQ(generation.sampling.frequency_penalty, 2);
  ASSERT_EQ(generation.sampling.logit_bias.size(), 3U);
  EXPECT_EQ(generation.sampling.logit_bias[0].bias, 5);
  EXPECT_EQ(generation.sampling.logit_bias[1].token_id, 66);
  EXPECT_TRUE(std::isinf(generation.sampling.logit_bias[2].bias));
  EXPECT_EQ(generation.num_answers, 2);
  EXPECT_EQ(generation.best_of, 3);
  EXPECT_THAT(generation.stop_token_ids, ElementsAre(1, 2));
  EXPECT_TRUE(generation.ignore_eos);
  EXPECT_EQ(generation.max_tokens, 20);
  EXPECT_EQ(generation.min_tokens, 3);
  EXPECT_EQ(generation.priority, -4);
  EXPECT_EQ(generation.cache_salt, "s");
}

TEST_F(ApiRequestTest, TakesWhatFewAskFor) {
  const ApiRequest request = Chat(
      R"("typical_p": 0.5, "top_n_sigma": 1.5, "xtc_probability": 0.2, "xtc_threshold": 0.3, "dry_multiplier": 0.8,
      "dry_base": 2, "dry_allowed_length": 3, "dry_penalty_last_n": 64, "dry_sequence_breakers": ["\n", "ab"],
      "mirostat": 2, "mirostat_tau": 4, "mirostat_eta": 0.2, "dynatemp_range": 0.5, "dynatemp_exponent": 2,
      "no_repeat_ngram_size": 3, "bad_words": ["no"], "allowed_token_ids": [65, 66], "samplers": ["top_k", "temperature"],
      "logit_bias": [["A", -1], [66, false]], "include_stop_str_in_output": true, "skip_special_tokens": false,
      "return_token_ids": true, "return_tokens_as_token_ids": true, "timings": true, "prompt_logprobs": 2,
      "deadline_ms": 1500, "ttft_slo_ms": 200, "tpot_slo_ms": 50)");
  const SamplingParams& sampling = request.generation.sampling;
  EXPECT_EQ(sampling.typical_p, 0.5);
  EXPECT_EQ(sampling.top_n_sigma, 1.5);
  EXPECT_EQ(sampling.xtc_probability, 0.2);
  EXPECT_EQ(sampling.xtc_threshold, 0.3);
  EXPECT_EQ(sampling.dry_multiplier, 0.8);
  EXPECT_EQ(sampling.dry_base, 2);
  EXPECT_EQ(sampling.dry_allowed_length, 3);
  EXPECT_EQ(sampling.dry_penalty_last_n, 64);
  EXPECT_THAT(sampling.dry_sequence_breakers.tokens, ElementsAre('\n'));
  EXPECT_THAT(sampling.dry_sequence_breakers.sequences, ElementsAre(ElementsAre('a', 'b')));
  EXPECT_EQ(sampling.mirostat, 2);
  EXPECT_EQ(sampling.mirostat_tau, 4);
  EXPECT_EQ(sampling.mirostat_eta, 0.2);
  EXPECT_EQ(sampling.dynatemp_range, 0.5);
  EXPECT_EQ(sampling.dynatemp_exponent, 2);
  EXPECT_EQ(sampling.no_repeat_ngram_size, 3);
  EXPECT_THAT(sampling.bad_words, ElementsAre(ElementsAre('n', 'o'), ElementsAre(' ', 'n', 'o')));
  EXPECT_THAT(sampling.allowed_token_ids, ElementsAre(65, 66));
  EXPECT_THAT(*sampling.samplers, ElementsAre("top_k", "temperature"));
  ASSERT_EQ(sampling.logit_bias.size(), 2U);
  EXPECT_EQ(sampling.logit_bias[0].token_id, 'A');
  EXPECT_TRUE(request.include_stop && request.with_special && request.token_ids && request.tokens_as_ids);
  EXPECT_TRUE(request.timings && request.prompt_logprobs);
  EXPECT_EQ(request.generation.prompt_logprobs, 2);
  EXPECT_EQ(request.generation.timeout_s, 1.5);
  EXPECT_EQ(request.generation.ttft_objective_s, 0.2);
  EXPECT_EQ(request.generation.tpot_objective_s, 0.05);
}

TEST_F(ApiRequestTest, FieldsThatNobodyKnowsAreNamed) {
  EXPECT_THAT(Chat(R"("user": "u", "nobody_knows": 1, "null_is_absent": null, "top_p": 1)").ignored,
              ElementsAre("nobody_knows", "user"));
}

TEST_F(ApiRequestTest, TheFlexibleTierIsThatOfBatches) {
  EXPECT_FALSE(Chat(R"("service_tier": "auto")").is_flex);
  EXPECT_EQ(Chat(R"("service_tier": "priority")").generation.priority, 0);
  const ApiRequest flex = Chat(R"("service_tier": "flex")");
  EXPECT_TRUE(flex.is_flex);
  EXPECT_EQ(flex.generation.priority, kIdlePriority);
  EXPECT_EQ(Chat(R"("service_tier": "flex", "priority": -3)").generation.priority, -3) << "the closer word counts";
}

TEST_F(ApiRequestTest, HintsOfOpenAiWithoutUseHereArePassedOver) {
  EXPECT_THAT(Chat(R"("prediction": {"type": "content", "content": "x"}, "web_search_options": {}, "verbosity": "low")")
                  .ignored,
              ElementsAre("prediction", "verbosity", "web_search_options"));
}

TEST_F(ApiRequestTest, PromptsAreCutAtTheWishedSide) {
  const auto ids = [this](const std::string& fields) {
    return Good(Read(R"({"prompt": [1, 2, 3, 4], )" + fields + "}", ApiKind::kCompletion)).generation.prompt;
  };
  EXPECT_THAT(ids(R"("truncate_prompt_tokens": 2)"), ElementsAre(3, 4));
  EXPECT_THAT(ids(R"("truncate_prompt_tokens": 2, "truncation_side": "right")"), ElementsAre(1, 2));
  EXPECT_THAT(ids(R"("truncate_prompt_tokens": 9)"), ElementsAre(1, 2, 3, 4));
  const std::string long_text(500, 'x');
  const ApiRequest fits =
      Good(Read(R"({"truncate_prompt_tokens": -1, "prompt": ")" + long_text + "\"}", ApiKind::kCompletion));
  EXPECT_EQ(fits.generation.prompt.size(), static_cast<size_t>(kMaxContext - 1));
}

TEST_F(ApiRequestTest, ALastMessageIsGoneOnFrom) {
  const ApiRequest request = Good(Read(
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Well, "}],
          "continue_final_message": true, "add_generation_prompt": false})",
      ApiKind::kChat));
  EXPECT_EQ(*tokenizer_.Decode(request.generation.prompt, true), "<s><|start|>user:hi<|end|><|start|>assistant:Well, ");
}

TEST_F(ApiRequestTest, NullIsAbsent) {
  const ApiRequest request = Chat(R"("temperature": null, "max_completion_tokens": null, "max_tokens": 5, "tools": null,
      "stop": null, "logit_bias": null, "response_format": null)");
  EXPECT_EQ(request.generation.sampling.temperature, 1.0);
  EXPECT_EQ(request.generation.max_tokens, 5);
}

TEST_F(ApiRequestTest, RefusesWrongTypesAndRangesByName) {
  struct Case {
    const char* fields;
    const char* code;
    const char* param;
  };
  const Case cases[] = {
      {R"("model": 5)", "invalid_type", "model"},
      {R"("temperature": "1")", "invalid_type", "temperature"},
      {R"("temperature": 2.5)", "invalid_value", "temperature"},
      {R"("top_p": -0.1)", "invalid_value", "top_p"},
      {R"("top_k": 1.5)", "invalid_type", "top_k"},
      {R"("top_k": -2)", "invalid_value", "top_k"},
      {R"("min_p": 1.1)", "invalid_value", "min_p"},
      {R"("repetition_penalty": 0)", "invalid_value", "repetition_penalty"},
      {R"("presence_penalty": 3)", "invalid_value", "presence_penalty"},
      {R"("seed": 9223372036854775808)", "invalid_value", "seed"},
      {R"("n": 0)", "invalid_value", "n"},
      {R"("n": true)", "invalid_type", "n"},
      {R"("n": 3, "best_of": 2)", "invalid_value", "best_of"},
      {R"("max_tokens": -2)", "invalid_value", "max_tokens"},
      {R"("max_tokens": 4, "min_tokens": 5)", "invalid_value", "min_tokens"},
      {R"("stop": 5)", "invalid_type", "stop"},
      {R"("stop": ["a", 5])", "invalid_type", "stop[1]"},
      {R"("stop": "")", "invalid_value", "stop"},
      {R"("stop_token_ids": [260])", "invalid_value", "stop_token_ids[0]"},
      {R"("stop_token_ids": ["a"])", "invalid_type", "stop_token_ids[0]"},
      {R"("logit_bias": 5)", "invalid_type", "logit_bias"},
      {R"("logit_bias": [[1]])", "invalid_type", "logit_bias[0]"},
      {R"("logit_bias": [[1, 101]])", "invalid_value", "logit_bias[0]"},
      {R"("typical_p": 0)", "invalid_value", "typical_p"},
      {R"("mirostat": 3)", "invalid_value", "mirostat"},
      {R"("dry_base": 1)", "invalid_value", "dry_base"},
      {R"("dry_sequence_breakers": [""])", "invalid_value", "dry_sequence_breakers[0]"},
      {R"("bad_words": "x")", "invalid_type", "bad_words"},
      {R"("allowed_token_ids": [])", "invalid_value", "allowed_token_ids"},
      {R"("no_repeat_ngram_size": 65)", "invalid_value", "no_repeat_ngram_size"},
      {R"("deadline_ms": 0)", "invalid_value", "deadline_ms"},
      {R"("stream_options": {})", "invalid_value", "stream_options"},
      {R"("truncate_prompt_tokens": 0)", "invalid_value", "truncate_prompt_tokens"},
      {R"("truncation_side": "up")", "invalid_value", "truncation_side"},
      {R"("chat_template_kwargs": {"a": "<|end|>"})", "invalid_value", "chat_template_kwargs.a"},
      {R"("continue_final_message": true, "add_generation_prompt": true)", "invalid_value", "continue_final_message"},
      {R"("logit_bias": {"x": 1})", "invalid_value", "logit_bias"},
      {R"("logit_bias": {"260": 1})", "invalid_value", "logit_bias"},
      {R"("logit_bias": {"1": 101})", "invalid_value", "logit_bias.1"},
      {R"("logit_bias": {"1": true})", "invalid_type", "logit_bias.1"},
      {R"("logprobs": 1)", "invalid_type", "logprobs"},
      {R"("top_logprobs": 2)", "invalid_value", "top_logprobs"},
      {R"("logprobs": true, "top_logprobs": 21)", "invalid_value", "top_logprobs"},
      {R"("priority": 1001)", "invalid_value", "priority"},
      {R"("cache_salt": "")", "invalid_value", "cache_salt"},
      {R"("length_penalty": 2)", "invalid_value", "length_penalty"},
      {R"("early_stopping": 1)", "invalid_type", "early_stopping"},
      {R"("use_beam_search": true, "n": 17)", "invalid_value", "n"}};
  for (const Case& wanted : cases) {
    const ApiError error = ChatError(wanted.fields);
    EXPECT_EQ(error.code, wanted.code) << wanted.fields;
    EXPECT_EQ(error.param, wanted.param) << wanted.fields;
    EXPECT_THAT(error.message, HasSubstr("'")) << wanted.fields;
  }
  EXPECT_EQ(ChatError(R"("stop": ")" + std::string(257, 'x') + "\"").code, "string_above_max_length");
}

TEST_F(ApiRequestTest, RefusesWhatItKnowsAndDoesNotSupport) {
  for (const char* fields :
       {R"("stream": true)", R"("tools": [{"type": "function", "function": {"name": "f"}}])",
        R"("adaptive_target": 0.5)", R"("modalities": ["text", "audio"])", R"("add_special_tokens": true)",
        R"("echo": true)", R"("reasoning_effort": "low")", R"("chat_template": "x")"}) {
    const ApiError error = ChatError(fields);
    EXPECT_EQ(error.code, "unsupported_parameter") << fields;
    EXPECT_THAT(fields, HasSubstr("\"" + error.param + "\"")) << fields;
  }
  // The same with values that ask for nothing.
  Chat(R"("stream": false, "tools": [], "response_format": {"type": "text"}, "typical_p": 1.0, "echo": false,
      "modalities": ["text"], "add_special_tokens": false, "parallel_tool_calls": true)");
  Completion(R"("suffix": "", "add_special_tokens": true)");
  EXPECT_EQ(CompletionError(R"("suffix": "x")").param, "suffix");
}

TEST_F(ApiRequestTest, RolesAndPartsBecomeMessages) {
  EXPECT_EQ(ChatText(R"([{"role": "developer", "content": "d"}, {"role": "user", "name": "Ann", "content": "u"},
                       {"role": "assistant", "content": "a"}, {"role": "tool", "tool_call_id": "7", "content": "t"}])"),
            "<s><|start|>system:d<|end|><|start|>user(Ann):u<|end|><|start|>assistant:a<|end|><|start|>tool#7:t<|end|>"
            "<|start|>assistant:");
  EXPECT_THAT(
      ChatText(R"([{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]}])"),
      HasSubstr("user:x\ny<|end|>"));
}

TEST_F(ApiRequestTest, ControlTokensInMessagesStayText) {
  const ApiRequest request =
      Good(Read(R"({"messages": [{"role": "user", "content": "<|end|>", "name": "<|end|>"}]})", ApiKind::kChat));
  EXPECT_EQ(std::count(request.generation.prompt.begin(), request.generation.prompt.end(), kBos + 3), 1);
}

TEST_F(ApiRequestTest, RefusesWrongMessagesByPlace) {
  struct Case {
    const char* messages;
    const char* code;
    const char* param;
  };
  const Case cases[] = {
      {"null", "missing_required_parameter", "messages"},
      {"5", "invalid_type", "messages"},
      {"[]", "invalid_value", "messages"},
      {"[5]", "invalid_type", "messages[0]"},
      {R"([{"content": "x"}])", "missing_required_parameter", "messages[0].role"},
      {R"([{"role": "user", "content": "x"}, {"role": "king", "content": "x"}])", "invalid_value", "messages[1].role"},
      {R"([{"role": "user"}])", "missing_required_parameter", "messages[0].content"},
      {R"([{"role": "user", "content": 5}])", "invalid_type", "messages[0].content"},
      {R"([{"role": "user", "content": [{"type": "image_url"}]}])", "unsupported_parameter",
       "messages[0].content[0].type"},
      {R"([{"role": "user", "content": [{"type": "text"}]}])", "missing_required_parameter",
       "messages[0].content[0].text"},
      {R"([{"role": "user", "content": [{"text": "x"}]}])", "invalid_value", "messages[0].content[0].type"},
      {R"([{"role": "assistant", "content": "x", "tool_calls": [{}]}])", "missing_required_parameter",
       "messages[0].tool_calls[0].function"},
      {R"([{"role": "assistant", "tool_calls": [{"function": {"name": 5}}]}])", "invalid_type",
       "messages[0].tool_calls[0].function.name"},
      {R"([{"role": "user", "content": "refuse"}])", "chat_template_error", "messages"}};
  for (const Case& wanted : cases) {
    const ApiError error = MessagesError(wanted.messages);
    EXPECT_EQ(error.code, wanted.code) << wanted.messages;
    EXPECT_EQ(error.param, wanted.param) << wanted.messages;
  }
  has_template_ = false;
  EXPECT_EQ(ChatError("").code, "chat_template_error");
  EXPECT_EQ(ChatError("").message, "there is no template");
}

TEST_F(ApiRequestTest, PromptsAreTextOrTokens) {
  EXPECT_THAT(Completion("").generation.prompt, ElementsAre(kBos, 'a', 'b'));
  EXPECT_THAT(Good(Read(R"({"prompt": ["<|end|>"]})", ApiKind::kCompletion)).generation.prompt,
              ElementsAre(kBos, kBos + 3));
  EXPECT_THAT(Good(Read(R"({"prompt": [5, 6.0]})", ApiKind::kCompletion)).generation.prompt, ElementsAre(5, 6));
  EXPECT_THAT(Good(Read(R"({"prompt": [[5, 6]]})", ApiKind::kCompletion)).generation.prompt, ElementsAre(5, 6));
  EXPECT_EQ(PromptError("null").code, "missing_required_parameter");
  EXPECT_EQ(PromptError("5").code, "invalid_type");
  EXPECT_EQ(PromptError("[]").code, "invalid_value");
  EXPECT_EQ(PromptError("[-1]").param, "prompt[0]");
  EXPECT_EQ(PromptError("[1, \"a\"]").code, "invalid_type");
  const ApiRequest several = Good(Read(R"({"prompt": ["a", "b", "c"]})", ApiKind::kCompletion));
  EXPECT_THAT(several.generation.prompt, ElementsAre(kBos, 'a'));
  EXPECT_THAT(several.more_prompts, ElementsAre(ElementsAre(kBos, 'b'), ElementsAre(kBos, 'c')));
  EXPECT_EQ(PromptError(R"(["a", 5])").param, "prompt[1]");
  EXPECT_EQ(PromptError("[[1], []]").param, "prompt[1]");
}

TEST_F(ApiRequestTest, EchoKeepsThePromptsText) {
  EXPECT_EQ(Completion(R"("echo": true)").echo, std::vector<std::string>{"ab"});
  EXPECT_EQ(Completion(R"("echo": true)").generation.prompt_logprobs, -1);
  EXPECT_EQ(Completion(R"("echo": true, "logprobs": 2)").generation.prompt_logprobs, 2);
  EXPECT_EQ(Good(Read(R"({"prompt": [104, 105], "echo": true})", ApiKind::kCompletion)).echo,
            std::vector<std::string>{"hi"});
}

TEST_F(ApiRequestTest, LogprobsOfBothKinds) {
  EXPECT_EQ(Chat(R"("logprobs": true)").generation.sampling.top_logprobs, 0);
  EXPECT_EQ(Chat(R"("logprobs": true, "top_logprobs": 3)").generation.sampling.top_logprobs, 3);
  EXPECT_EQ(Chat(R"("logprobs": false, "top_logprobs": 0)").generation.sampling.top_logprobs, -1);
  EXPECT_TRUE(Completion(R"("logprobs": 0)").logprobs);
  EXPECT_EQ(CompletionError(R"("logprobs": true)").code, "invalid_type");
}

TEST_F(ApiRequestTest, BeamSearch) {
  const ApiRequest request =
      Chat(R"("use_beam_search": true, "best_of": 4, "n": 2, "length_penalty": 0.5, "early_stopping": "never")");
  EXPECT_EQ(request.generation.beam.width, 4);
  EXPECT_EQ(request.generation.best_of, 0);
  EXPECT_EQ(request.generation.beam.length_penalty, 0.5);
  EXPECT_EQ(request.generation.beam.early_stopping, engine::EarlyStopping::kNever);
  EXPECT_EQ(Chat(R"("use_beam_search": true, "n": 3)").generation.beam.width, 3);
  const ApiRequest one = Chat(R"("use_beam_search": true)");
  EXPECT_EQ(one.generation.beam.width, 0);
  EXPECT_EQ(one.generation.sampling.temperature, 0.0);
  for (const char* field :
       {R"("stop": "x")", R"("logprobs": true)", R"("logit_bias": {"1": 1})", R"("frequency_penalty": 1)"}) {
    const ApiError error = ChatError(std::string(R"("use_beam_search": true, "n": 2, )") + field);
    EXPECT_EQ(error.code, "unsupported_parameter") << field;
    EXPECT_THAT(field, StartsWith("\"" + error.param)) << field;
  }
  EXPECT_EQ(ChatError(R"("best_of": 2, "stop": "x")").code, "unsupported_parameter");
}

TEST_F(ApiRequestTest, AnswersKeepToTheContext) {
  const ApiError error = ChatError(R"("max_tokens": 190)");
  EXPECT_EQ(error.code, "context_length_exceeded");
  EXPECT_EQ(error.param, "max_tokens");
  EXPECT_THAT(error.message, HasSubstr("maximum context length is 200 tokens"));
  const std::string long_text(200, 'x');
  const ApiError prompt = PromptError("\"" + long_text + "\"");
  EXPECT_EQ(prompt.code, "context_length_exceeded");
  EXPECT_EQ(prompt.param, "prompt");
  // A default is cut to what there is room for.
  default_max_tokens_ = 50;
  EXPECT_EQ(Chat("").generation.max_tokens, 50);
  EXPECT_EQ(Completion("").generation.max_tokens, 50);
  default_max_tokens_ = 500;
  EXPECT_EQ(Completion("").generation.max_tokens, kMaxContext - 3);
  EXPECT_EQ(Chat(R"("max_tokens": 0)").generation.max_tokens, 0);
}

}  // namespace
}  // namespace adit::server
