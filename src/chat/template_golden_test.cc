#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "chat/template.h"

// Renders the templates of real models, and single features, against what Jinja itself printed.
namespace adit::chat {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path kOracle = fs::path(ADIT_SHARED_DIR) / "oracle" / "chat_template";
const fs::path kGoldens = fs::path(ADIT_SOURCE_DIR) / "tests" / "goldens" / "chat_template";

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The moment that the goldens were made at: 2024-07-26 12:34:56.
RenderOptions GoldenOptions() {
  RenderOptions options;
  options.now.tm_year = 124;
  options.now.tm_mon = 6;
  options.now.tm_mday = 26;
  options.now.tm_hour = 12;
  options.now.tm_min = 34;
  options.now.tm_sec = 56;
  return options;
}

Result<std::string> RenderGolden(const std::string& source, const OrderedJson& context) {
  ADIT_ASSIGN_OR_RETURN(const Template parsed, Template::Parse(source));
  return parsed.RenderText(context.dump(), GoldenOptions());
}

// Checks a case of {output} or {error, message}. The message of raise_exception is exact.
void ExpectCase(const std::string& source, const OrderedJson& context, const OrderedJson& expected) {
  const Result<std::string> result = RenderGolden(source, context);
  if (expected.contains("output")) {
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(*result, expected["output"].get<std::string>());
    return;
  }
  EXPECT_FALSE(result.ok()) << "rendered: " << *result;
  if (expected["error"] == "TemplateError") {
    EXPECT_EQ(result.status().message(), expected["message"].get<std::string>());
    return;
  }
  // What is undefined is said in the same words; other errors need not be.
  const auto message = expected["message"].get<std::string>();
  if (message.ends_with(" is undefined") || message.find(" has no ") != std::string::npos) {
    EXPECT_THAT(result.status().message(), testing::EndsWith(": " + message));
  }
}

void ExpectFeatures(const fs::path& path) {
  const OrderedJson features = OrderedJson::parse(ReadFile(path));
  for (const OrderedJson& expected : features["cases"]) {
    const auto source = expected["template"].get<std::string>();
    SCOPED_TRACE(source);
    ExpectCase(source, features["context"], expected);
  }
  EXPECT_GT(features["cases"].size(), 100U);
}

OrderedJson ContextOf(const OrderedJson& conversation, const OrderedJson& golden, const OrderedJson& expected) {
  OrderedJson context = conversation["context"];
  context["add_generation_prompt"] = expected["add_generation_prompt"];
  context["bos_token"] = golden["bos_token"];
  context["eos_token"] = golden["eos_token"];
  return context;
}

void ExpectConversations(const fs::path& folder, const OrderedJson& conversations, int* num_cases) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const std::string source = ReadFile(entry.path());
    fs::path golden_path = entry.path();
    const OrderedJson golden = OrderedJson::parse(ReadFile(golden_path.replace_extension(".json")));
    for (const OrderedJson& expected : golden["cases"]) {
      SCOPED_TRACE(entry.path().filename().string() + " " + expected["conversation"].get<std::string>());
      for (const OrderedJson& conversation : conversations["conversations"]) {
        if (conversation["name"] != expected["conversation"]) continue;
        ExpectCase(source, ContextOf(conversation, golden, expected), expected);
        ++*num_cases;
      }
    }
  }
}

TEST(TemplateGolden, TemplatesOfModelsRenderAsInTransformers) {
  if (!fs::exists(kOracle)) GTEST_SKIP() << kOracle << " is absent";
  int num_cases = 0;
  ExpectConversations(kOracle / "templates", OrderedJson::parse(ReadFile(kOracle / "conversations.json")), &num_cases);
  EXPECT_GT(num_cases, 500);
}

TEST(TemplateGolden, SharedFeaturesAgreeWithJinja) {
  if (!fs::exists(kOracle)) GTEST_SKIP() << kOracle << " is absent";
  ExpectFeatures(kOracle / "features.json");
}

TEST(TemplateGolden, OwnFeaturesAgreeWithJinja) { ExpectFeatures(kGoldens / "features.json"); }

TEST(TemplateGolden, GeneratedExpressionsAgreeWithJinja) { ExpectFeatures(kGoldens / "expressions.json"); }

TEST(TemplateGolden, GeneratedProgramsAgreeWithJinja) { ExpectFeatures(kGoldens / "programs.json"); }

TEST(TemplateGolden, OwnTemplatesRenderAsInTransformers) {
  int num_cases = 0;
  ExpectConversations(kGoldens, OrderedJson::parse(ReadFile(kGoldens / "conversations.json")), &num_cases);
  EXPECT_GT(num_cases, 20);
}

}  // namespace
}  // namespace adit::chat
