#include "eval/base_logits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "eval/statistics.h"

namespace adit::eval {
namespace {

using ::testing::HasSubstr;

// Two windows of 6 tokens, of which positions 3 and 4 are scored, over a vocabulary of 5.
TextWindows Windows() { return {.tokens = {0, 1, 2, 3, 4, 0, 1, 1, 2, 2, 3, 3}, .context = 6, .bos = std::nullopt}; }

std::vector<float> Row(int i) { return {static_cast<float>(i), -2.0f, 0.5f * static_cast<float>(i), 3.0f, -40.0f}; }

// Of this process: tests run beside each other.
std::string Path() { return testing::TempDir() + "base_logits_" + std::to_string(getpid()); }

std::string Written() {
  Result<BaseLogitsWriter> writer = BaseLogitsWriter::Create(Path(), Windows(), 5);
  EXPECT_TRUE(writer.ok());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(writer->Append(Row(i)).ok());
  EXPECT_EQ(writer->Append(Row(4)).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(writer->Finish().ok());
  std::ifstream file(Path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(BaseLogits, GivesBackLogProbabilitiesAndTokens) {
  Written();
  EXPECT_TRUE(BaseLogits::IsOne(Path()));
  const Result<BaseLogits> base = BaseLogits::Open(Path());
  ASSERT_TRUE(base.ok()) << base.status().ToString();
  EXPECT_EQ(base->windows().tokens, Windows().tokens);
  EXPECT_EQ(base->windows().context, 6);
  EXPECT_EQ(base->vocab_size(), 5);
  std::array<float, 5> out;
  for (int i = 0; i < 4; ++i) {
    base->ReadRow(i / 2, i % 2, out);
    const std::vector<float> row = Row(i);
    const double log_sum = LogSumExp(row);
    // A code is 16 / 65535 at most, and what lies 16 below the largest is cut there.
    for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(out[k], row[k] - log_sum, 2e-4) << i << " " << k;
    EXPECT_LE(out[4], BaseLogits::kLeast);
  }
}

// The bytes as the format says, put together by hand.
TEST(BaseLogits, ReadsTheFormat) {
  std::string bytes = "_logits_";
  const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const int32_t size : {4, 3, 1}) put(size);
  for (const int32_t token : {2, 1, 0, 2}) put(token);
  put(0.5f);
  put(-3.0f);
  for (const uint16_t code : {uint16_t{0}, uint16_t{2}, uint16_t{6}, uint16_t{0}}) put(code);
  const Result<BaseLogits> base = BaseLogits::Parse(Bytes(bytes), "file");
  ASSERT_TRUE(base.ok()) << base.status().ToString();
  std::array<float, 3> out;
  base->ReadRow(0, 0, out);
  EXPECT_THAT(out, testing::ElementsAre(-3.0f, -2.0f, 0.0f));
}

TEST(BaseLogits, RefusesWhatIsNone) {
  const std::string good = Written();
  const auto message = [](const std::string& bytes) {
    const Result<BaseLogits> base = BaseLogits::Parse(Bytes(bytes), "file");
    return base.ok() ? std::string("accepted") : base.status().message();
  };
  EXPECT_EQ(message(good), "accepted");
  EXPECT_THAT(message(""), HasSubstr("does not begin with '_logits_'"));
  EXPECT_THAT(message("GGUF" + good.substr(4)), HasSubstr("does not begin with"));
  EXPECT_THAT(message(good.substr(0, good.size() - 1)), HasSubstr("expected 12 tokens and 4 rows of 20 bytes"));
  EXPECT_THAT(message(good + "x"), HasSubstr("expected 12 tokens"));
  const auto with = [&](size_t offset, int32_t value) {
    std::string bytes = good;
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
    return bytes;
  };
  EXPECT_THAT(message(with(8, 3)), HasSubstr("windows of 3 tokens"));
  EXPECT_THAT(message(with(12, -1)), HasSubstr("a vocabulary of -1"));
  EXPECT_THAT(message(with(16, 0)), HasSubstr("0 windows"));
  EXPECT_THAT(message(with(16, 2147483647)), HasSubstr("bytes after its sizes"));
  EXPECT_THAT(message(with(24, 5)), HasSubstr("token 5 at 1 is not in 0..4"));
}

TEST(BaseLogits, IsNotFinishedWithoutAllRows) {
  Result<BaseLogitsWriter> writer = BaseLogitsWriter::Create(Path(), Windows(), 5);
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE(writer->Append(Row(0)).ok());
  EXPECT_THAT(writer->Finish().message(), HasSubstr("3 rows are missing"));
}

}  // namespace
}  // namespace adit::eval
