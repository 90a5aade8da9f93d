#include "hub/file_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace adit::hub {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<HubFile> Files(std::initializer_list<const char*> paths) {
  std::vector<HubFile> files;
  for (const char* path : paths) files.push_back({.path = path, .size_bytes = 1});
  return files;
}

std::vector<std::string> Paths(const Result<FileChoice>& choice) {
  std::vector<std::string> paths;
  if (choice.ok()) {
    for (const HubFile& file : choice->files) paths.push_back(file.path);
  }
  return paths;
}

TEST(FileChoice, QuantisationsAreToldFromNames) {
  const std::pair<const char*, const char*> cases[] = {{"model-Q4_K_M.gguf", "Q4_K_M"},
                                                       {"model.Q8_0.gguf", "Q8_0"},
                                                       {"qwen2.5-q4_k_m.gguf", "Q4_K_M"},
                                                       {"model-IQ2_XXS.gguf", "IQ2_XXS"},
                                                       {"model-f16.gguf", "F16"},
                                                       {"gpt-oss-mxfp4.gguf", "MXFP4"},
                                                       {"a/b/model-BF16-00001-of-00002.gguf", "BF16"},
                                                       {"model_q5_0.gguf", "Q5_0"},
                                                       {"model-TQ1_0.gguf", "TQ1_0"},
                                                       {"QX-model.gguf", ""},
                                                       {"model.gguf", ""},
                                                       {"Q4_0-model.txt", ""},
                                                       {"model-UD-Q4_K_XL.gguf", "Q4_K_XL"},
                                                       {"smollm2.Q4_1.gguf", "Q4_1"}};
  for (const auto& [path, quant] : cases) EXPECT_EQ(QuantOfName(path), quant) << path;
}

TEST(FileChoice, TakesTheQuantisationThatIsNamedOrTheUsualOne) {
  const auto files = Files({"README.md", "m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-F16.gguf"});
  EXPECT_THAT(Paths(ChooseFiles(files, "q8_0", {})), ElementsAre("m-Q8_0.gguf"));
  const Result<FileChoice> usual = ChooseFiles(files, "", {});
  EXPECT_THAT(Paths(usual), ElementsAre("m-Q4_K_M.gguf"));
  EXPECT_EQ(usual->quant, "Q4_K_M");
  EXPECT_EQ(usual->open, "m-Q4_K_M.gguf");
  EXPECT_THAT(Paths(ChooseFiles(Files({"only.gguf", "x.md"}), "", {})), ElementsAre("only.gguf"));
}

TEST(FileChoice, PartsOfOneModelComeTogether) {
  const auto files = Files({"Q4/m-Q4_0-00002-of-00002.gguf", "Q4/m-Q4_0-00001-of-00002.gguf", "m-Q8_0.gguf"});
  const Result<FileChoice> choice = ChooseFiles(files, "Q4_0", {});
  EXPECT_THAT(Paths(choice), ElementsAre("Q4/m-Q4_0-00001-of-00002.gguf", "Q4/m-Q4_0-00002-of-00002.gguf"));
  EXPECT_EQ(choice->open, "Q4/m-Q4_0-00001-of-00002.gguf");
}

TEST(FileChoice, SaysWhatThereIs) {
  const Result<FileChoice> none = ChooseFiles(Files({"m-Q4_0.gguf", "m-Q8_0.gguf"}), "Q3_K_S", {});
  EXPECT_EQ(none.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(none.status().message(), HasSubstr("there are: Q4_0, Q8_0"));
  const Result<FileChoice> several = ChooseFiles(Files({"a-Q4_0.gguf", "b-Q4_0.gguf"}), "Q4_0", {});
  EXPECT_EQ(several.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(several.status().message(), HasSubstr("--include"));
  EXPECT_EQ(ChooseFiles(Files({"README.md"}), "", {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ChooseFiles({}, "", {}).status().code(), StatusCode::kNotFound);
}

TEST(FileChoice, AFolderIsWhatTheModelIsReadFrom) {
  const auto files = Files({"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                            "model.safetensors.index.json", "consolidated.safetensors", "tokenizer.json", "merges.txt",
                            "onnx/model.onnx", "pytorch_model.bin", "chat_template.jinja", "README.md"});
  const Result<FileChoice> choice = ChooseFiles(files, "", {});
  EXPECT_THAT(Paths(choice), UnorderedElementsAre("config.json", "model-00001-of-00002.safetensors",
                                                  "model-00002-of-00002.safetensors", "model.safetensors.index.json",
                                                  "tokenizer.json", "merges.txt", "chat_template.jinja"));
  EXPECT_EQ(choice->open, "");
  EXPECT_FALSE(ChooseFiles(files, "Q4_0", {}).ok());
}

TEST(FileChoice, GlobsChooseByName) {
  const auto files = Files({"a-Q4_0.gguf", "b-Q4_0.gguf", "x/c.json"});
  const Result<FileChoice> choice = ChooseFiles(files, "", {"b*", "*.json"});
  EXPECT_THAT(Paths(choice), ElementsAre("b-Q4_0.gguf", "x/c.json"));
  EXPECT_EQ(choice->open, "b-Q4_0.gguf");
  EXPECT_FALSE(ChooseFiles(files, "", {"nothing*"}).ok());
}

TEST(FileChoice, GlobsMatch) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("*.gguf", "a/b.gguf"));
  EXPECT_TRUE(MatchesGlob("a?c*e", "abcde"));
  EXPECT_TRUE(MatchesGlob("*b*b", "abcb"));
  EXPECT_FALSE(MatchesGlob("a?c", "ac"));
  EXPECT_FALSE(MatchesGlob("", "a"));
  EXPECT_FALSE(MatchesGlob("*a", "b"));
  EXPECT_FALSE(MatchesGlob("*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace adit::hub
