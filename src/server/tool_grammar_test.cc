#include "server/tool_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "grammar/compiler.h"
#include "grammar/grammar.h"
#include "server/api_request.h"
#include "server/output_parser.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using ::testing::HasSubstr;

constexpr char kToolTemplate[] =
    "{% if tools %}{# <tool_call> #}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}";
constexpr char kTools[] =
    R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object",
        "properties": {"z": {"type": "integer"}, "a": {"type": "string"}}, "required": ["z"]}}},
       {"type": "function", "function": {"name": "g"}}])";

class ToolGrammarTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!grammar::Compiler::available()) GTEST_SKIP() << "this build has no XGrammar";
  }

  std::variant<ApiRequest, ApiError> Read(const std::string& fields, ToolSyntax syntax = ToolSyntax::kHermes) const {
    const ApiModel model{.tokenizer = tokenizer_,
                         .chat = chat_,
                         .name = "m",
                         .vocab_size = tokenizer_.vocab_size(),
                         .max_context = 4096,
                         .output = {.tools = syntax}};
    const std::string body = R"({"messages": [{"role": "user", "content": "hi"}], )" + fields + "}";
    return ReadRequest(nlohmann::json::parse(body), ApiKind::kChat, model, body);
  }
  ApiRequest Good(const std::string& fields, ToolSyntax syntax = ToolSyntax::kHermes) const {
    std::variant<ApiRequest, ApiError> read = Read(fields, syntax);
    if (const auto* error = std::get_if<ApiError>(&read)) ADD_FAILURE() << error->message;
    return std::holds_alternative<ApiRequest>(read) ? std::get<ApiRequest>(std::move(read)) : ApiRequest();
  }
  ApiError Bad(const std::string& fields) const {
    const std::variant<ApiRequest, ApiError> read = Read(fields);
    if (!std::holds_alternative<ApiError>(read)) ADD_FAILURE() << fields;
    return std::holds_alternative<ApiError>(read) ? std::get<ApiError>(read) : ApiError();
  }

  // Whether the request's grammar describes the text, byte by byte.
  bool Describes(const ApiRequest& request, std::string_view text) {
    if (!request.constraint) return true;
    const Result<GrammarPtr> grammar = compiler_.Compile(request.constraint->spec);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    if (!grammar.ok()) return false;
    const auto matcher = (*grammar)->NewMatcher();
    for (const char byte : text) {
      if (!*matcher->Accept(static_cast<unsigned char>(byte))) return false;
    }
    return matcher->complete();
  }

  const ByteTokenizer tokenizer_{/*adds_bos=*/false, /*adds_eos=*/false};
  const Result<ChatPrompt> chat_ = ChatPrompt::Create(kToolTemplate, tokenizer_);
  grammar::Compiler compiler_{tokenizer_};
};

const std::string kHermesF = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"z\": 1, \"a\": \"b\"}}\n</tool_call>";
const std::string kHermesG = "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>";

TEST_F(ToolGrammarTest, WithoutStrictToolsAndWithAChoiceTheAnswerIsFree) {
  EXPECT_FALSE(Good(kTools).constraint.has_value());
  EXPECT_FALSE(Good(std::string(kTools) + R"(, "tool_choice": "none")").constraint.has_value());
}

TEST_F(ToolGrammarTest, RequiredCallsAreCallsAndNothingElse) {
  const ApiRequest request = Good(std::string(kTools) + R"(, "tool_choice": "required")");
  EXPECT_TRUE(Describes(request, kHermesF));
  EXPECT_TRUE(Describes(request, kHermesF + "\n" + kHermesG));
  EXPECT_FALSE(Describes(request, "text"));
  EXPECT_FALSE(Describes(request, ""));
  EXPECT_FALSE(Describes(request, "<tool_call>\n{\"name\": \"h\", \"arguments\": {}}\n</tool_call>"));
  EXPECT_FALSE(Describes(request, "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"));
  const ApiRequest one = Good(std::string(kTools) + R"(, "tool_choice": "required", "parallel_tool_calls": false)");
  EXPECT_TRUE(Describes(one, kHermesG));
  EXPECT_FALSE(Describes(one, kHermesG + "\n" + kHermesG));
}

TEST_F(ToolGrammarTest, ANamedFunctionIsCalledOnce) {
  for (const char* choice :
       {R"(, "tool_choice": {"type": "function", "function": {"name": "g"}})", R"(, "function_call": {"name": "g"})"}) {
    const ApiRequest request = Good(std::string(kTools) + choice);
    EXPECT_TRUE(Describes(request, kHermesG));
    EXPECT_FALSE(Describes(request, kHermesF));
    EXPECT_FALSE(Describes(request, kHermesG + "\n" + kHermesG));
  }
}

TEST_F(ToolGrammarTest, AllowedToolsAreAPartOfThem) {
  const std::string allowed =
      R"(, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "MODE", "tools": [{"type": "function", "function": {"name": "g"}}]}})";
  const auto with = [&](const std::string& mode) {
    std::string fields = kTools + allowed;
    return fields.replace(fields.find("MODE"), 4, mode);
  };
  EXPECT_TRUE(Describes(Good(with("auto")), "text " + kHermesG));
  EXPECT_TRUE(Describes(Good(with("auto")), "text"));
  EXPECT_FALSE(Describes(Good(with("auto")), kHermesF));
  EXPECT_FALSE(Describes(Good(with("required")), "text"));
}

TEST_F(ToolGrammarTest, StrictToolsHoldTheirArgumentsAmongText) {
  const std::string strict =
      R"("tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"type": "object",
          "properties": {"z": {"type": "integer"}}, "required": ["z"], "additionalProperties": false}}}])";
  const ApiRequest request = Good(strict);
  EXPECT_TRUE(
      Describes(request, "I will see.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"z\": 1}}\n</tool_call>"));
  EXPECT_TRUE(Describes(request, "plain text"));
  EXPECT_FALSE(Describes(request, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"z\": \"x\"}}\n</tool_call>"));
}

TEST_F(ToolGrammarTest, WhatAStrictToolCannotEnforceIsRefusedByName) {
  const auto tool = [](const char* strict) {
    return std::string(
               R"("tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "strict": )") +
           strict + R"(, "parameters": {"type": "object", "properties": {"z": {"not": {}}}}}}])";
  };
  const ApiError error = Bad(tool("true"));
  EXPECT_EQ(error.code, "unsupported_schema_feature");
  EXPECT_EQ(error.param, "tools[0].function.parameters");
  EXPECT_THAT(error.message, HasSubstr("'not'"));
  EXPECT_TRUE(
      Describes(Good(tool("false")), "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"z\": 1}}\n</tool_call>"));
}

TEST_F(ToolGrammarTest, WrongChoicesAreRefused) {
  for (const char* choice :
       {R"("what")", R"({"type": "function", "function": {"name": "h"}})", R"({"type": "what"})", "5",
        R"({"type": "function"})", R"({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}})"}) {
    EXPECT_EQ(Bad(std::string(kTools) + ", \"tool_choice\": " + choice).code, "invalid_tool_choice") << choice;
  }
  EXPECT_EQ(Bad(R"("tool_choice": "required")").code, "invalid_tool_choice");
}

TEST_F(ToolGrammarTest, EverySyntaxIsReadByItsOwnParser) {
  struct Case {
    ToolSyntax syntax;
    const char* text;
  };
  for (const Case& one :
       {Case{ToolSyntax::kLlama3, R"({"name": "f", "parameters": {"z": 1}}; {"name": "g", "parameters": {}})"},
        Case{ToolSyntax::kMistral,
             R"([TOOL_CALLS][{"name": "f", "arguments": {"z": 1}}, {"name": "g", "arguments": {}}])"},
        Case{ToolSyntax::kCommandR,
             "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": {\"z\": 1}},\n    "
             "{\"tool_call_id\": \"1\", \"tool_name\": \"g\", \"parameters\": {}}\n]<|END_ACTION|>"},
        Case{ToolSyntax::kPythonic, "[f(z=1), g()]"},
        Case{ToolSyntax::kGemma,
             "<start_function_call>call:f{z:1}<end_function_call><start_function_call>call:g{}<end_function_call>"},
        Case{ToolSyntax::kDeepSeek,
             "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"z\": 1}<｜tool▁call▁end｜>"
             "<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
        Case{ToolSyntax::kDeepSeek,
             "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"z\": 1}\n```"
             "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{}\n```<｜tool▁call▁end｜>"
             "<｜tool▁calls▁end｜>"}}) {
    const ApiRequest request = Good(std::string(kTools) + R"(, "tool_choice": "required")", one.syntax);
    EXPECT_TRUE(Describes(request, one.text)) << one.text;
    EXPECT_FALSE(Describes(request, "text"));
    std::vector<OutputDelta> deltas;
    const auto parser = MakeOutputParser(request.output);
    parser->Append(one.text, deltas);
    parser->Finish(deltas);
    ASSERT_EQ(deltas.size(), 2U);
    EXPECT_EQ(deltas[0].name + deltas[0].text + deltas[1].name, "f{\"z\":1}g");
  }
}

TEST_F(ToolGrammarTest, HarmonyMayThinkFirstAndCallsOnce) {
  const std::string call = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"z\": 1}";
  const std::string thoughts = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant";
  const std::string final = "<|channel|>final<|message|>text";
  const ApiRequest must = Good(std::string(kTools) + R"(, "tool_choice": "required")", ToolSyntax::kHarmony);
  EXPECT_TRUE(Describes(must, call));
  EXPECT_TRUE(Describes(must, thoughts + call));
  EXPECT_FALSE(Describes(must, final));
  EXPECT_FALSE(Describes(must, "<|channel|>commentary to=functions.h <|constrain|>json<|message|>{}"));
  std::string strict = kTools;
  strict.replace(strict.find("\"name\": \"f\""), 11, R"("name": "f", "strict": true)");
  const ApiRequest may = Good(strict, ToolSyntax::kHarmony);
  EXPECT_TRUE(Describes(may, final));
  EXPECT_TRUE(Describes(may, thoughts + final));
  EXPECT_TRUE(Describes(may, thoughts + call));
  EXPECT_FALSE(Describes(may, "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"z\": \"x\"}"));
  std::vector<OutputDelta> deltas;
  const auto parser = MakeOutputParser(must.output);
  parser->Append(thoughts + call, deltas);
  parser->Finish(deltas);
  ASSERT_FALSE(deltas.empty());
  EXPECT_EQ(deltas.back().name + deltas.back().text, "f{\"z\":1}");
}

TEST_F(ToolGrammarTest, NamesThatASyntaxCannotHoldAreRefused) {
  std::string tools = kTools;
  tools.replace(tools.find("\"f\""), 3, R"("f g")");
  const auto read = Read(tools + R"(, "tool_choice": "required")", ToolSyntax::kDeepSeek);
  ASSERT_TRUE(std::holds_alternative<ApiError>(read));
  EXPECT_EQ(std::get<ApiError>(read).param, "tools[0].function.parameters");
  EXPECT_TRUE(std::holds_alternative<ApiRequest>(Read(tools + R"(, "tool_choice": "required")")));
}

TEST_F(ToolGrammarTest, StrictToolsAmongTextInEverySyntax) {
  const std::string strict =
      R"("tools": [{"type": "function", "function": {"name": "f", "strict": true, "parameters": {"type": "object",
          "properties": {"z": {"type": "integer"}}, "required": ["z"]}}}])";
  struct Case {
    ToolSyntax syntax;
    std::string before;
    std::string key;
    std::string behind;
  };
  for (const Case& one :
       {Case{ToolSyntax::kLlama3, R"({"name": "f", )", "parameters", "}"},
        Case{ToolSyntax::kMistral, R"([TOOL_CALLS][{"name": "f", )", "arguments", "}]"},
        Case{ToolSyntax::kCommandR, "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"f\", ",
             "parameters", "}\n]<|END_ACTION|>"},
        Case{ToolSyntax::kGranite, R"(<|tool_call|>[{"name": "f", )", "arguments", "}]"}}) {
    const ApiRequest request = Good(strict, one.syntax);
    const auto call = [&one](const std::string& z) {
      return one.before + "\"" + one.key + "\": {\"z\": " + z + "}" + one.behind;
    };
    EXPECT_TRUE(Describes(request, "plain text, with {\"a\": 1} in it"));
    EXPECT_TRUE(Describes(request, call("1"))) << call("1");
    EXPECT_FALSE(Describes(request, call("\"x\""))) << call("\"x\"");
  }
}

TEST_F(ToolGrammarTest, AnAnswerMayBeCallsOrWhatTheFormatSays) {
  const ApiRequest request = Good(std::string(kTools) + R"(, "response_format": {"type": "json_schema", "json_schema":
      {"name": "n", "schema": {"type": "object", "properties": {"q": {"type": "null"}}, "required": ["q"]}}})");
  EXPECT_TRUE(Describes(request, R"({"q": null})"));
  EXPECT_TRUE(Describes(request, kHermesG));
  EXPECT_FALSE(Describes(request, "text"));
}

TEST_F(ToolGrammarTest, FormatsAndTheirOtherNames) {
  struct Case {
    const char* fields;
    const char* good;
    const char* bad;
  };
  for (const Case& one : {
           Case{R"("response_format": {"type": "json_object"})", "{}", "[]"},
           Case{R"("response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema":
               {"type": "object", "properties": {"z": {"type": "null"}, "a": {"type": "null"}}}}})",
                R"({"z":null,"a":null})", R"({"a":null,"z":null})"},
           Case{R"("response_format": {"type": "regex", "pattern": "[0-9]+"})", "12", "a"},
           Case{R"("response_format": {"type": "grammar", "grammar": "root ::= \"a\" | \"b\""})", "b", "c"},
           Case{R"("response_format": {"type": "choice", "choices": ["a", "b"]})", "b", "c"},
           Case{R"("structured_outputs": {"choice": ["a", "b"]})", "b", "c"},
           Case{R"("structured_outputs": {"json": "{\"type\": \"null\"}", "disable_any_whitespace": true})", "null",
                "1"},
           Case{R"("guided_regex": "a+")", "aa", "b"},
           Case{R"("guided_json": {"type": "array", "items": {"type": "integer"}})", "[1]", "[null]"},
           Case{R"("grammar": "root ::= \"x\"")", "x", "y"},
           Case{R"("json_schema": {"type": "integer"})", "5", "5.5"},
           Case{R"("response_format": {"type": "structural_tag", "format": {"type": "const_string", "value": "v"}})",
                "v", "w"},
       }) {
    const ApiRequest request = Good(one.fields);
    ASSERT_TRUE(request.constraint.has_value()) << one.fields;
    EXPECT_TRUE(Describes(request, one.good)) << one.fields;
    EXPECT_FALSE(Describes(request, one.bad)) << one.fields;
  }
  EXPECT_FALSE(Good(R"("response_format": {"type": "text"})").constraint.has_value());
}

TEST_F(ToolGrammarTest, WrongFormatsAreRefused) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"("response_format": {"type": "xml"})", "invalid_value"},
      {R"("response_format": "json")", "invalid_type"},
      {R"("response_format": {"type": "json_schema"})", "missing_required_parameter"},
      {R"("response_format": {"type": "json_schema", "json_schema": {"schema": 5}})", "invalid_type"},
      {R"("structured_outputs": {"what": 1})", "unknown_parameter"},
      {R"("structured_outputs": {"whitespace_pattern": " "})", "unsupported_parameter"},
      {R"("guided_json": {"type": "null"}, "guided_regex": "a")", "invalid_value"},
      {R"("response_format": {"type": "json_object"}, "use_beam_search": true, "n": 2)", "unsupported_parameter"},
  };
  for (const auto& [fields, code] : kCases) EXPECT_EQ(Bad(fields).code, code) << fields;
}

TEST_F(ToolGrammarTest, ErrorsOfTheCompilerNameTheField) {
  const auto error_of = [this](const char* fields) {
    const ApiRequest request = Good(fields);
    return ErrorOfConstraint(*request.constraint, compiler_.Compile(request.constraint->spec).status());
  };
  const ApiError schema =
      error_of(R"("response_format": {"type": "json_schema", "json_schema": {"schema": {"not": {}}}})");
  EXPECT_EQ(schema.code, "unsupported_schema_feature");
  EXPECT_EQ(schema.param, "response_format.json_schema.schema");
  EXPECT_EQ(schema.status, 400);
  EXPECT_EQ(error_of(R"("guided_json": {"enum": []})").code, "invalid_json_schema");
  EXPECT_EQ(error_of(R"("guided_regex": "(")").code, "invalid_grammar");
  EXPECT_EQ(error_of(R"("grammar": "root ::= x")").code, "invalid_grammar");
}

}  // namespace
}  // namespace adit::server
