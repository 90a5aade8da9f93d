#include "hub/model_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace adit::hub {
namespace {

using ::testing::HasSubstr;

const std::string kOld(40, '1');
const std::string kNew(40, '2');

class ModelStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/adit_store_XXXXXX";
    folder_ = ::mkdtemp(name);
    store_ = std::make_unique<ModelStore>(folder_ + "/models");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Puts a model of one file of ten bytes there, beside a file that all of its commit share.
  void Put(const std::string& repository, const std::string& quant, const std::string& commit, int64_t pulled_s,
           const std::string& revision = "main") {
    StoredModel model{.ref = {repository, quant, revision}, .commit = commit, .open = quant + ".gguf"};
    model.pulled_s = pulled_s;
    for (const std::string& path : {model.open, std::string("shared.json")}) {
      model.files.push_back({.path = path, .size_bytes = 10});
      std::filesystem::create_directories(store_->FolderOf(repository, commit));
      std::ofstream(store_->FolderOf(repository, commit) + "/" + path) << "0123456789";
    }
    const Status status = store_->Add(model);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  std::string Found(const std::string& name) const {
    const Result<std::string> path = store_->Resolve(name);
    return path.ok() ? path->substr(store_->folder().size() + 1) : path.status().ToString();
  }

  std::string folder_;
  std::unique_ptr<ModelStore> store_;
};

TEST_F(ModelStoreTest, NothingIsThereAtFirst) {
  ASSERT_TRUE(store_->List().ok());
  EXPECT_TRUE(store_->List()->empty());
  const Result<StoredModel> found = store_->Find("org/name");
  EXPECT_EQ(found.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(found.status().message(), HasSubstr("adit pull"));
  EXPECT_EQ(store_->Remove("org/name").status().code(), StatusCode::kNotFound);
}

TEST_F(ModelStoreTest, ModelsAreFoundByAllTheirNames) {
  Put("Org/Name-GGUF", "Q4_0", kOld, 100);
  Put("Org/Name-GGUF", "Q8_0", kOld, 200);
  Put("Org/Name-GGUF", "Q4_0", kNew, 300, "v2");
  EXPECT_EQ(Found("Org/Name-GGUF"), "Org/Name-GGUF/" + kNew + "/Q4_0.gguf") << "the newest";
  EXPECT_EQ(Found("org/name-gguf:q8_0"), "Org/Name-GGUF/" + kOld + "/Q8_0.gguf");
  EXPECT_EQ(Found("Org/Name-GGUF:Q4_0@main"), "Org/Name-GGUF/" + kOld + "/Q4_0.gguf");
  EXPECT_EQ(Found("Org/Name-GGUF@v2"), "Org/Name-GGUF/" + kNew + "/Q4_0.gguf");
  EXPECT_EQ(Found("Org/Name-GGUF:Q4_0@1111111"), "Org/Name-GGUF/" + kOld + "/Q4_0.gguf");
  EXPECT_EQ(Found("Name-GGUF:Q8_0"), "Org/Name-GGUF/" + kOld + "/Q8_0.gguf");
  EXPECT_THAT(Found("Org/Name-GGUF:Q2_K"), HasSubstr("there are: Org/Name-GGUF:Q4_0"));
  Put("Other/Name-GGUF", "Q8_0", kOld, 50);
  EXPECT_THAT(Found("Name-GGUF:Q8_0"), HasSubstr("say which"));
}

TEST_F(ModelStoreTest, OtherNamesStandForModelsAndFiles) {
  Put("o/n", "Q4_0", kOld, 100);
  ASSERT_TRUE(store_->SetAlias("small", "o/n:Q4_0").ok());
  ASSERT_TRUE(store_->SetAlias("mine", "/somewhere/mine.gguf").ok());
  EXPECT_EQ(Found("small"), "o/n/" + kOld + "/Q4_0.gguf");
  EXPECT_EQ(*store_->Resolve("mine"), "/somewhere/mine.gguf");
  for (const char* name : {"", "a/b", "..", ".x", "-x", "a b"})
    EXPECT_FALSE(store_->SetAlias(name, "o/n").ok()) << name;
  EXPECT_TRUE(store_->Remove("small").ok());
  EXPECT_EQ(store_->Aliases()->size(), 1U);
  EXPECT_EQ(Found("o/n"), "o/n/" + kOld + "/Q4_0.gguf") << "the model stays";
}

TEST_F(ModelStoreTest, FilesGoWithTheLastModelThatNeedsThem) {
  Put("o/n", "Q4_0", kOld, 100);
  Put("o/n", "Q8_0", kOld, 100);
  EXPECT_EQ(*store_->Remove("o/n:Q4_0"), 10);
  EXPECT_TRUE(std::filesystem::exists(store_->FolderOf("o/n", kOld) + "/shared.json"));
  EXPECT_FALSE(std::filesystem::exists(store_->FolderOf("o/n", kOld) + "/Q4_0.gguf"));
  EXPECT_EQ(*store_->Remove("o/n"), 20);
  EXPECT_FALSE(std::filesystem::exists(store_->folder() + "/o"));
  EXPECT_TRUE(store_->List()->empty());
}

TEST_F(ModelStoreTest, WhatWasBegunCanBeRemoved) {
  std::filesystem::create_directories(store_->FolderOf("o/n", kOld));
  std::ofstream(store_->FolderOf("o/n", kOld) + "/m.gguf.part") << "12345";
  EXPECT_TRUE(store_->List()->empty());
  EXPECT_EQ(*store_->Remove("o/n"), 5);
  EXPECT_FALSE(std::filesystem::exists(store_->FolderOf("o/n", kOld)));
}

TEST_F(ModelStoreTest, DescriptionsThatLeadElsewhereAreRefused) {
  std::filesystem::create_directories(store_->folder() + "/o/n");
  const std::string path = store_->folder() + "/o/n/" + kOld + ".json";
  for (const char* text : {"", "{}", R"({"models":[{"open":"../../x","files":[]}]})",
                           R"({"models":[{"open":"a","files":[{"path":"/etc/passwd","size_bytes":1}]}]})",
                           R"({"models":[{"open":"a"}]})"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(store_->List().status().code(), StatusCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace adit::hub
