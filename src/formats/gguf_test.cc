#include "formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/gguf_builder.h"
#include "support/gguf_cases.h"
#include "support/safetensors_reader.h"

namespace adit::formats {
namespace {

using ::testing::HasSubstr;

std::string TempPath(const std::string& name) { return testing::TempDir() + "adit_gguf_test_" + name; }

Result<std::unique_ptr<GgufFile>> Parse(const std::vector<std::byte>& bytes) {
  return GgufFile::Parse(bytes, "test.gguf");
}

// Decodes all of a tensor, so that a sanitizer sees every byte that its data claims.
std::vector<float> Decode(const TensorInfo& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
  Traits(tensor.dtype).decode(tensor.data.data(), values.data(), tensor.num_elements());
  return values;
}

class GgufCases : public testing::TestWithParam<test::GgufCase> {};

TEST_P(GgufCases, GivesTheRightCodeAndMessage) {
  const auto file = Parse(GetParam().bytes);
  ASSERT_EQ(file.status().code(), GetParam().code) << file.status().ToString();
  if (!file.ok()) {
    EXPECT_THAT(file.status().message(), testing::StartsWith("gguf: test.gguf: "));
    for (const std::string& part : GetParam().message) EXPECT_THAT(file.status().message(), HasSubstr(part));
    EXPECT_LT(file.status().message().size(), 300u);
    return;
  }
  for (const TensorInfo& tensor : (*file)->tensors()) {
    Decode(tensor);
    EXPECT_EQ((*file)->Find(tensor.name), &tensor);
  }
}

// The same through a file on disk, whose bytes end where the mapping's last page goes on.
TEST_P(GgufCases, GivesTheSameThroughAFile) {
  const std::string path = TempPath(GetParam().name);
  test::WriteFile(path, GetParam().bytes);
  const auto file = GgufFile::Open(path);
  EXPECT_EQ(file.status().code(), GetParam().code) << file.status().ToString();
  if (!file.ok()) {
    EXPECT_THAT(file.status().message(), HasSubstr(path));
  }
  std::filesystem::remove(path);
}

constexpr auto kCaseName = [](const auto& test) { return test.param.name; };
INSTANTIATE_TEST_SUITE_P(Valid, GgufCases, testing::ValuesIn(test::ValidGgufCases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(BrokenHeader, GgufCases, testing::ValuesIn(test::BrokenGgufHeaderCases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(BrokenPair, GgufCases, testing::ValuesIn(test::BrokenGgufPairCases()), kCaseName);
INSTANTIATE_TEST_SUITE_P(BrokenTensor, GgufCases, testing::ValuesIn(test::BrokenGgufTensorCases()), kCaseName);

TEST(GgufFile, GivesShapesOutermostFirstAndTheDataOfEachTensor) {
  const auto bytes = test::GgufBuilder()
                         .AddTensorF32("a", {2, 3}, {1, 2, 3, 4, 5, 6})
                         .AddTensorF32("b", {2, 1, 1, 2}, {7, 8, 9, 10})
                         .Build();
  const auto file = Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_EQ((*file)->tensors().size(), 2u);
  const TensorInfo& a = (*file)->tensors()[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.rank, 2);
  EXPECT_THAT(a.shape, testing::ElementsAre(2, 3, 1, 1));
  EXPECT_THAT(Decode(a), testing::ElementsAre(1, 2, 3, 4, 5, 6));
  const TensorInfo* b = (*file)->Find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->rank, 4);
  EXPECT_THAT(b->shape, testing::ElementsAre(2, 1, 1, 2));
  EXPECT_THAT(Decode(*b), testing::ElementsAre(7, 8, 9, 10));
  EXPECT_EQ((*file)->Find("c"), nullptr);
  EXPECT_EQ((*file)->version(), 3u);
  EXPECT_EQ((*file)->size_bytes(), bytes.size());
  EXPECT_EQ((*file)->path(), "test.gguf");
}

TEST(GgufFile, PlacesDataByTheAlignmentOfTheFile) {
  test::GgufBuilder builder;
  builder.alignment = 512;
  builder.Add<uint32_t>("general.alignment", 512);
  const auto bytes = builder.AddTensorF32("x", {1}, {5}).AddTensorF32("y", {1}, {6}).Build();
  const auto file = Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ((*file)->Find("x")->data.data() - bytes.data(), 512);
  EXPECT_EQ((*file)->Find("y")->data.data() - bytes.data(), 1024);
  EXPECT_EQ(Decode(*(*file)->Find("y"))[0], 6.0f);
}

// A prefix may load only if it lacks nothing but padding that no tensor needs.
TEST(GgufFile, RefusesEveryProperPrefix) {
  const auto bytes = test::GgufBuilder()
                         .AddString("general.architecture", "llama")
                         .AddArray<std::string>("tokenizer.ggml.tokens", {"a", "bc", ""})
                         .AddArray<bool>("flags", {true, false})
                         .AddTensorF32("x", {2, 4}, std::vector<float>(8, 1.0f))
                         .AddTensor("y", DType::kQ4_0, {1, 32}, std::vector<std::byte>(18))
                         .Build();
  ASSERT_TRUE(Parse(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // Memory of exactly that size, so that a sanitizer sees a read past it.
    const std::vector<std::byte> prefix(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const auto file = Parse(prefix);
    ASSERT_EQ(file.status().code(), StatusCode::kCorrupt) << "prefix of " << size << " bytes";
  }
}

TEST(GgufFile, SurvivesEveryChangeOfOneByte) {
  const auto bytes = test::GgufBuilder()
                         .AddString("general.architecture", "llama")
                         .AddArray<std::string>("tokens", {"a", "bc"})
                         .Add<bool>("flag", true)
                         .AddTensor("y", DType::kQ4_0, {2, 32}, std::vector<std::byte>(36))
                         .AddTensorF32("x", {2, 4}, std::vector<float>(8, 1.0f))
                         .Build();
  int loaded = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(change);
      const auto file = Parse(changed);
      if (!file.ok()) continue;
      ++loaded;
      for (const TensorInfo& tensor : (*file)->tensors()) Decode(tensor);
    }
  }
  EXPECT_GT(loaded, 0);
}

TEST(GgufFile, BoundsTheHeaderOfASparseFile) {
  const std::string path = TempPath("sparse");
  const uint64_t string_bytes = uint64_t{300} << 20;
  test::GgufBuilder builder;
  std::vector<std::byte> length(sizeof(string_bytes));
  std::memcpy(length.data(), &string_bytes, sizeof(string_bytes));
  test::WriteFile(path, builder.AddRawPair("general.name", 8, length).Build());
  std::filesystem::resize_file(path, uint64_t{1} << 30);
  const auto file = GgufFile::Open(path);
  EXPECT_EQ(file.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(file.status().message(), HasSubstr("'general.name'"));
  EXPECT_THAT(file.status().message(), HasSubstr("limit of 134217728 bytes"));
  std::filesystem::remove(path);
}

TEST(GgufFile, KeepsWhatItGaveAfterRelease) {
  const std::string path = TempPath("release");
  const std::vector<float> values(64 * 1024, 2.5f);
  test::WriteFile(path, test::GgufBuilder().AddTensorF32("x", {64, 1024}, values).Build());
  const auto file = GgufFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const TensorInfo* x = (*file)->Find("x");
  EXPECT_EQ(Decode(*x), values);
  (*file)->Release(x->data);
  EXPECT_EQ(Decode(*x), values);
  std::filesystem::remove(path);
}

TEST(GgufFile, ReleaseOverMemoryDoesNothing) {
  const std::vector<float> values(64 * 1024, 2.5f);
  const auto bytes = test::GgufBuilder().AddTensorF32("x", {64, 1024}, values).Build();
  const auto file = Parse(bytes);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const TensorInfo* x = (*file)->Find("x");
  (*file)->Release(x->data);
  EXPECT_EQ(Decode(*x), values);
}

TEST(GgufFile, NamesWhatCannotBeOpened) {
  const auto missing = GgufFile::Open("/nonexistent/model.gguf");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("/nonexistent/model.gguf"));
}

std::vector<std::filesystem::path> SharedModels() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = ADIT_SHARED_DIR "/oracle/models";
  if (!std::filesystem::is_directory(folder)) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".gguf") paths.push_back(entry.path());
  }
  return paths;
}

TEST(GgufFile, OpensFilesOfTheReferenceWriter) {
  const auto paths = SharedModels();
  if (paths.empty()) GTEST_SKIP() << ADIT_SHARED_DIR "/oracle/models is not there";
  for (const auto& path : paths) {
    const auto file = GgufFile::Open(path.string());
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_TRUE((*file)->metadata().GetString("general.architecture").ok()) << path;
    EXPECT_GT((*file)->tensors().size(), 5u) << path;
    for (const TensorInfo& tensor : (*file)->tensors()) Decode(tensor);
  }
}

TEST(GgufFile, HoldsTheValuesOfTheCheckpointItWasMadeFrom) {
  const std::string folder = ADIT_SHARED_DIR "/oracle/models/llama_8l";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto checkpoint = test::ReadSafetensors(folder + "/model.safetensors");
  const auto file = GgufFile::Open(folder + "/model-bf16.gguf");
  ASSERT_TRUE(checkpoint.ok() && file.ok()) << checkpoint.status().ToString() << file.status().ToString();
  const std::pair<const char*, const char*> names[] = {{"token_embd.weight", "model.embed_tokens.weight"},
                                                       {"blk.3.ffn_up.weight", "model.layers.3.mlp.up_proj.weight"},
                                                       {"output_norm.weight", "model.norm.weight"}};
  for (const auto& [gguf_name, checkpoint_name] : names) {
    const TensorInfo* tensor = (*file)->Find(gguf_name);
    ASSERT_NE(tensor, nullptr) << gguf_name;
    const auto& wanted = checkpoint->at(checkpoint_name);
    EXPECT_EQ(std::vector<int64_t>(tensor->shape.begin(), tensor->shape.begin() + tensor->rank), wanted.shape);
    EXPECT_EQ(Decode(*tensor), wanted.Floats()) << gguf_name;
  }
}

}  // namespace
}  // namespace adit::formats
