#include "cli/saved_talk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace adit::cli {
namespace {

using ::testing::HasSubstr;

SavedTalk Talk() {
  return {.model = "m.gguf", .system = "be brief", .turns = {{"hi\n\"you\"", "hello \u4e2d"}, {"", ""}}};
}

TEST(SavedTalk, ComesBackAsItWas) {
  for (const bool has_system : {true, false}) {
    SavedTalk talk = Talk();
    if (!has_system) talk.system.reset();
    const Result<SavedTalk> read = ParseSavedTalk(SavedTalkText(talk), "x");
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(read->model, talk.model);
    EXPECT_EQ(read->system, talk.system);
    ASSERT_EQ(read->turns.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(read->turns[i].text, talk.turns[i].text);
      EXPECT_EQ(read->turns[i].answer, talk.turns[i].answer);
    }
  }
}

TEST(SavedTalk, BytesThatAreNoTextAreReplaced) {
  const Result<SavedTalk> read = ParseSavedTalk(SavedTalkText({.model = "m", .turns = {{"a\xff", "b"}}}), "x");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->turns[0].text, "a\uFFFD");
}

TEST(SavedTalk, OtherTextsAreRefusedByName) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "talk.json"},
      {"[]", "no talk that /save wrote"},
      {R"({"format":"other"})", "no talk that /save wrote"},
      {R"({"format":"adit talk"})", "no 'version'"},
      {R"({"format":"adit talk","version":2})", "version 2, this build reads 1"},
      {R"({"format":"adit talk","version":1,"extra":0})", "unknown member 'extra'"},
      {R"({"format":"adit talk","version":1})", "no 'model'"},
      {R"({"format":"adit talk","version":1,"model":"m","system":3,"turns":[]})", "'system' is"},
      {R"({"format":"adit talk","version":1,"model":"m","turns":{}})", "no 'turns' that are an array"},
      {R"({"format":"adit talk","version":1,"model":"m","turns":[1]})", "turn 0 is"},
      {R"({"format":"adit talk","version":1,"model":"m","turns":[{"user":"a"}]})", "turn 0: no 'assistant'"},
      {R"({"format":"adit talk","version":1,"model":"m","turns":[{"user":"a","assistant":"b","x":1}]})",
       "turn 0: unknown member 'x'"},
  };
  for (const Case& bad : cases) {
    const Result<SavedTalk> read = ParseSavedTalk(bad.text, "talk.json");
    ASSERT_FALSE(read.ok()) << bad.text;
    EXPECT_THAT(read.status().message(), HasSubstr(bad.message)) << bad.text;
  }
}

TEST(SavedTalk, HasAMostNumberOfTurns) {
  SavedTalk talk{.model = "m"};
  talk.turns.resize(kMaxTalkTurns + 1);
  const Result<SavedTalk> read = ParseSavedTalk(SavedTalkText(talk), "x");
  EXPECT_EQ(read.status().code(), StatusCode::kResourceExhausted);
  talk.turns.pop_back();
  EXPECT_TRUE(ParseSavedTalk(SavedTalkText(talk), "x").ok());
}

TEST(SavedTalk, IsWrittenOverATalkAndOverNothingElse) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "saved_talk";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "talk.json";
  std::filesystem::remove(path);
  ASSERT_TRUE(WriteSavedTalk({.model = "first"}, path).ok());
  ASSERT_TRUE(WriteSavedTalk(Talk(), path).ok());
  EXPECT_EQ(ReadSavedTalk(path)->model, "m.gguf");

  std::ofstream(path) << "precious";
  const Status status = WriteSavedTalk(Talk(), path);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("not overwritten"));
  EXPECT_EQ(ReadSavedTalk(folder / "none").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace adit::cli
