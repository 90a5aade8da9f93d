#include "grammar/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "grammar/abandoned.h"
#include "grammar/backend_internal.h"
#include "grammar/grammar.h"
#include "grammar/test_vocabulary.h"

namespace adit::grammar {
namespace {

using ::testing::HasSubstr;

class CompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Compiler::available()) GTEST_SKIP() << "this build has no XGrammar";
  }
  TestVocabulary vocabulary_;
};

TEST(Compiler, WithoutXGrammarIsRefusedByName) {
  if (Compiler::available()) GTEST_SKIP() << "this build has XGrammar";
  const TestVocabulary vocabulary;
  Compiler compiler(vocabulary);
  const Status status = compiler.Compile({.kind = GrammarKind::kJsonObject}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("XGrammar"));
}

TEST_F(CompilerTest, KeepsWhatItHasCompiled) {
  Compiler compiler(vocabulary_);
  const GrammarSpec spec{.kind = GrammarKind::kRegex, .text = "[a-z]+"};
  const GrammarPtr first = *compiler.Compile(spec);
  EXPECT_EQ(*compiler.Compile(spec), first);
  EXPECT_NE(*compiler.Compile({.kind = GrammarKind::kRegex, .text = "[a-y]+"}), first);
  EXPECT_EQ(compiler.stats().num_cache_hits, 1);
  EXPECT_EQ(compiler.stats().num_compiled, 2);
}

TEST_F(CompilerTest, TheCacheIsBounded) {
  Compiler compiler(vocabulary_, {.max_cache_bytes = 1});
  const GrammarSpec spec{.kind = GrammarKind::kRegex, .text = "a"};
  const GrammarPtr first = *compiler.Compile(spec);
  ASSERT_TRUE(compiler.Compile({.kind = GrammarKind::kRegex, .text = "b"}).ok());
  EXPECT_NE(*compiler.Compile(spec), first);
  EXPECT_LT(compiler.stats().cache_bytes, 2 * first->memory_bytes() + 100);
}

TEST_F(CompilerTest, ErrorsTellThePlace) {
  Compiler compiler(vocabulary_);
  const Status rules = compiler.Compile({.kind = GrammarKind::kEbnf, .text = "root ::= b\n"}).status();
  EXPECT_EQ(rules.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(rules.message(), HasSubstr("line 1"));
  const Status schema =
      compiler.Compile({.kind = GrammarKind::kJsonSchema, .text = R"({"properties":{"a":{"not":{}}}})"}).status();
  EXPECT_EQ(schema.code(), StatusCode::kUnsupported);
  EXPECT_THAT(schema.message(), HasSubstr("#/properties/a"));
  EXPECT_EQ(compiler.stats().num_failed, 2);
}

TEST_F(CompilerTest, AGrammarThatAllowsNothingIsRefused) {
  Compiler compiler(vocabulary_);
  for (const char* rules : {"root ::= \"\"", "root ::= root \"a\""}) {
    EXPECT_EQ(compiler.Compile({.kind = GrammarKind::kEbnf, .text = rules}).status().code(),
              StatusCode::kInvalidArgument)
        << rules;
  }
}

TEST_F(CompilerTest, LargeTextsAndGrammarsAreRefused) {
  Compiler compiler(vocabulary_, {.max_text_bytes = 100, .max_grammar_bytes = 1});
  EXPECT_EQ(compiler.Compile({.kind = GrammarKind::kEbnf, .text = std::string(101, ' ')}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(compiler.Compile({.kind = GrammarKind::kRegex, .text = "a"}).status().code(),
            StatusCode::kResourceExhausted);
}

TEST_F(CompilerTest, WhoAsksIsToldWhenThereIsAResult) {
  Compiler compiler(vocabulary_);
  std::atomic<int> told = 0;
  const auto compilation = compiler.Begin({.kind = GrammarKind::kRegex, .text = "ab"}, [&told] { ++told; });
  EXPECT_TRUE(compilation->Wait().ok());
  ASSERT_TRUE(compilation->result().has_value());
  const auto again = compiler.Begin({.kind = GrammarKind::kRegex, .text = "ab"}, [&told] { ++told; });
  EXPECT_TRUE(again->result().has_value());
  for (int i = 0; i < 1000 && told < 2; ++i) std::this_thread::yield();
  EXPECT_GE(told, 1);
}

TEST_F(CompilerTest, WhatTakesTooLongIsGivenUpAndOthersGoOn) {
  Compiler compiler(vocabulary_, {.max_seconds = 0.0});
  const Status status = compiler.Compile({.kind = GrammarKind::kJsonObject}).status();
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDeadlineExceeded);
  // The one that was lost has ended by and by.
  for (int i = 0; i < 5; ++i) {
    const Status next = compiler.Compile({.kind = GrammarKind::kRegex, .text = "a"}).status();
    EXPECT_NE(next.code(), StatusCode::kInternal);
  }
}

// Compiles until it is let go.
std::atomic<bool> let_go = false;
std::atomic<bool> is_deep = false;
class EndlessBackend : public Backend {
 public:
  void Prepare(const GrammarSpec&) override {}
  Result<GrammarPtr> Compile(const GrammarSpec&) override {
    is_deep = true;
    while (!let_go) std::this_thread::yield();
    return Status(StatusCode::kInternal, "never");
  }
};

TEST_F(CompilerTest, EndsThoughACompilationDoesNot) {
  backend_factory =
      +[](const tokenizer::Tokenizer&) -> std::unique_ptr<Backend> { return std::make_unique<EndlessBackend>(); };
  std::shared_ptr<Compilation> compilation;
  {
    Compiler compiler(vocabulary_);
    compilation = compiler.Begin({.kind = GrammarKind::kRegex, .text = "a"});
    while (!is_deep) std::this_thread::yield();
  }
  backend_factory = &MakeBackend;
  EXPECT_EQ(compilation->Wait().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(NumAbandonedThreads(), 1);
  let_go = true;
  EXPECT_TRUE(Compiler(vocabulary_).Compile({.kind = GrammarKind::kRegex, .text = "a"}).ok());
}

TEST_F(CompilerTest, ManyThreadsMayAsk) {
  Compiler compiler(vocabulary_);
  std::vector<std::thread> threads;
  std::atomic<int> num_good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const GrammarSpec spec{.kind = GrammarKind::kRegex, .text = "[a-z]{" + std::to_string(i % 3 + 1) + "}"};
      for (int k = 0; k < 20; ++k) num_good += compiler.Compile(spec).ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_good, 160);
  EXPECT_EQ(compiler.stats().num_compiled, 3);
}

}  // namespace
}  // namespace adit::grammar
