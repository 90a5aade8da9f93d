// The only file that knows XGrammar.
#include <dlpack/dlpack.h>
#include <xgrammar/compiler.h>
#include <xgrammar/config.h>
#include <xgrammar/grammar.h>
#include <xgrammar/matcher.h>
#include <xgrammar/tokenizer_info.h>

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "grammar/backend_internal.h"
#include "grammar/grammar.h"

namespace adit::grammar {
namespace {

using OrderedJson = nlohmann::ordered_json;

// What XGrammar recurses over is bounded by our own checks; this is for what they do not see.
constexpr int kMaxRecursion = 512;

// Control tokens that formats of tool calls and thoughts are made of.
constexpr std::array kMarks = {"[TOOL_CALLS]",
                               "[ARGS]",
                               "[CALL_ID]",
                               "<|python_tag|>",
                               "<tool_call>",
                               "</tool_call>",
                               "<|tool_call|>",
                               "<think>",
                               "</think>",
                               "<｜tool▁calls▁begin｜>",
                               "<｜tool▁calls▁end｜>",
                               "<｜tool▁call▁begin｜>",
                               "<｜tool▁call▁end｜>",
                               "<｜tool▁sep｜>",
                               "<|START_ACTION|>",
                               "<|END_ACTION|>",
                               "<|channel|>",
                               "<|message|>",
                               "<|constrain|>",
                               "<|start|>",
                               "<|end|>",
                               "<start_function_call>",
                               "<end_function_call>",
                               "<escape>",
                               "<|python_start|>",
                               "<|python_end|>"};

bool IsMark(std::string_view text) {
  for (const std::string_view mark : kMarks) {
    if (text == mark) return true;
  }
  return false;
}

// The message without the name of XGrammar's file and the time in front of it, and as UTF-8.
std::string MessageOf(const std::exception& error) {
  std::string_view text = error.what();
  if (const size_t at = text.find(".cc:"); at != std::string_view::npos && text.starts_with('[')) {
    const size_t colon = text.find(": ", at);
    if (colon != std::string_view::npos) text.remove_prefix(colon + 2);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return ReplaceInvalidUtf8(text.substr(0, 1000));
}

// XGrammar throws where something is wrong.
template <typename Function>
auto Caught(const Function& function) -> Result<decltype(function())> {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("grammar: no memory");
  } catch (const std::exception& error) {
    return InvalidArgument("grammar: {}", MessageOf(error));
  }
}

class XMatcher final : public Matcher {
 public:
  XMatcher(const xgrammar::CompiledGrammar& compiled, int64_t vocab_size)
      : matcher_(compiled), shape_(static_cast<int64_t>(MaskWords(vocab_size))) {}

  Result<bool> FillMask(TokenMask mask) override {
    DLTensor tensor{};
    tensor.data = mask.data();
    tensor.device = DLDevice{kDLCPU, 0};
    tensor.ndim = 1;
    tensor.dtype = xgrammar::GetBitmaskDLType();
    tensor.shape = &shape_;
    return Caught([&] { return matcher_.FillNextTokenBitmask(&tensor); });
  }

  Result<bool> Accept(int32_t token) override {
    return Caught([&] { return matcher_.AcceptToken(token); });
  }

  bool complete() const override { return matcher_.IsCompleted() || matcher_.IsTerminated(); }

 private:
  xgrammar::GrammarMatcher matcher_;
  int64_t shape_;
};

class XGrammar final : public Grammar {
 public:
  XGrammar(xgrammar::CompiledGrammar compiled, int64_t vocab_size)
      : compiled_(std::move(compiled)), vocab_size_(vocab_size), memory_bytes_(compiled_.MemorySizeBytes()) {}

  std::unique_ptr<Matcher> NewMatcher() const override { return std::make_unique<XMatcher>(compiled_, vocab_size_); }
  size_t memory_bytes() const override { return memory_bytes_; }
  int64_t vocab_size() const override { return vocab_size_; }

 private:
  const xgrammar::CompiledGrammar compiled_;
  const int64_t vocab_size_;
  const size_t memory_bytes_;
};

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// Precondition: a list of strings.
std::string ChoiceRules(const std::string& list) {
  std::string rules = "root ::= ";
  bool is_first = true;
  for (const OrderedJson& choice : OrderedJson::parse(list)) {
    if (!is_first) rules += " | ";
    is_first = false;
    rules += Quoted(choice.get<std::string>());
  }
  return rules;
}

xgrammar::Grammar FromStructuralTag(const std::string& text) {
  auto made = xgrammar::Grammar::FromStructuralTag(text);
  if (auto* error = std::get_if<xgrammar::StructuralTagError>(&made)) {
    std::visit([](const auto& which) { throw std::runtime_error(which.what()); }, *error);
  }
  return std::get<xgrammar::Grammar>(std::move(made));
}

xgrammar::Grammar FromSchema(const std::string& schema, bool any_whitespace) {
  return xgrammar::Grammar::FromJSONSchema(schema, any_whitespace, std::nullopt, std::nullopt, /*strict_mode=*/true);
}

// Characters of a string with bounds on its length are all but quotes, backslashes and line ends, as XGrammar writes
// them; JSON forbids other control characters too.
xgrammar::Grammar WithoutControls(const xgrammar::Grammar& grammar) {
  constexpr std::string_view kWritten = R"( ::= (([^\"\\\r\n])))";
  constexpr std::string_view kWanted = R"( ::= (([^\0-\x1f\"\\])))";
  std::string rules = grammar.ToString();
  bool changed = false;
  for (size_t at = 0; (at = rules.find(kWritten, at)) != std::string::npos; at += kWanted.size()) {
    rules.replace(at, kWritten.size(), kWanted);
    changed = true;
  }
  return changed ? xgrammar::Grammar::FromEBNF(rules) : grammar;
}

xgrammar::Grammar GrammarOf(const GrammarSpec& spec) {
  switch (spec.kind) {
    case GrammarKind::kJsonSchema:
    case GrammarKind::kJsonObject:
      return FromSchema(spec.text, spec.any_whitespace);
    case GrammarKind::kRegex:
      return xgrammar::Grammar::FromRegex(spec.text);
    case GrammarKind::kChoice:
      return xgrammar::Grammar::FromEBNF(ChoiceRules(spec.text));
    case GrammarKind::kEbnf:
      return xgrammar::Grammar::FromEBNF(spec.text);
    case GrammarKind::kStructuralTag:
      break;
  }
  return FromStructuralTag(spec.text);
}

// Thoughts up to the tag that ends them, and white space.
xgrammar::Grammar ThoughtsOf(GrammarThoughts thoughts) {
  const bool opened = thoughts == GrammarThoughts::kOpened;
  const OrderedJson tag = {
      {"type", "tag"}, {"begin", opened ? "" : "<think>"}, {"content", {{"type", "any_text"}}}, {"end", "</think>"}};
  const OrderedJson space = {{"type", "regex"}, {"pattern", "[\\n ]{0,4}"}};
  OrderedJson sequence = {{"type", "sequence"}, {"elements", OrderedJson::array({tag, space})}};
  if (!opened) sequence = {{"type", "optional"}, {"content", sequence}};
  return FromStructuralTag(OrderedJson({{"type", "structural_tag"}, {"format", sequence}}).dump());
}

class XBackend final : public Backend {
 public:
  explicit XBackend(const tokenizer::Tokenizer& tokenizer)
      : tokenizer_(tokenizer), vocab_size_(tokenizer.vocab_size()) {
    xgrammar::SetMaxRecursionDepth(kMaxRecursion);
    const auto ends = tokenizer.end_of_generation_ids();
    ends_.assign(ends.begin(), ends.end());
  }

  void Prepare(const GrammarSpec& spec) override { (void)CompilerFor(HasMarks(spec)); }

  Result<GrammarPtr> Compile(const GrammarSpec& spec) override {
    return Caught([&]() -> GrammarPtr {
      xgrammar::Grammar grammar = GrammarOf(spec);
      const bool has_json =
          spec.kind != GrammarKind::kRegex && spec.kind != GrammarKind::kChoice && spec.kind != GrammarKind::kEbnf;
      if (has_json) grammar = WithoutControls(grammar);
      if (spec.thoughts != GrammarThoughts::kNone) {
        grammar = xgrammar::Grammar::Concat({ThoughtsOf(spec.thoughts), grammar});
      }
      auto compiled = std::make_shared<XGrammar>(CompilerFor(HasMarks(spec)).CompileGrammar(grammar), vocab_size_);
      // If matchers cannot be made, it shows here.
      (void)compiled->NewMatcher();
      return compiled;
    });
  }

 private:
  static bool HasMarks(const GrammarSpec& spec) { return spec.with_marks || spec.thoughts != GrammarThoughts::kNone; }

  xgrammar::GrammarCompiler& CompilerFor(bool with_marks) {
    std::optional<xgrammar::GrammarCompiler>& compiler = compilers_[with_marks ? 1 : 0];
    if (compiler) return *compiler;
    std::vector<std::string> texts(static_cast<size_t>(tokenizer_.vocab_size()));
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = TextOf(static_cast<int32_t>(i), with_marks);
    const xgrammar::TokenizerInfo info(texts, xgrammar::VocabType::RAW, static_cast<int>(texts.size()), ends_);
    return compiler.emplace(info, /*max_threads=*/1, /*cache_enabled=*/false);
  }

  // A token without text cannot be picked.
  std::string TextOf(int32_t id, bool with_marks) const {
    const tokenizer::TokenType type = tokenizer_.Type(id);
    if (type == tokenizer::TokenType::kUnused || type == tokenizer::TokenType::kUnknown) return std::string();
    std::string text = tokenizer_.TokenBytes(id, /*with_special=*/false);
    if (!text.empty() || !with_marks) return text;
    text = tokenizer_.TokenBytes(id, /*with_special=*/true);
    return IsMark(text) ? text : std::string();
  }

  const tokenizer::Tokenizer& tokenizer_;
  const int64_t vocab_size_;
  std::vector<int> ends_;
  std::array<std::optional<xgrammar::GrammarCompiler>, 2> compilers_;  // without and with marks; made when needed
};

}  // namespace

bool BackendIsBuilt() { return true; }

std::unique_ptr<Backend> MakeBackend(const tokenizer::Tokenizer& tokenizer) {
  return std::make_unique<XBackend>(tokenizer);
}

}  // namespace adit::grammar
