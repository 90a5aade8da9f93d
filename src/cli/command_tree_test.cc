#include "cli/command_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace adit::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const CommandTree* Find(const CommandTree& tree, std::string_view name) {
  const auto at = std::find_if(tree.commands.begin(), tree.commands.end(),
                               [name](const CommandTree& command) { return command.name == name; });
  return at == tree.commands.end() ? nullptr : &*at;
}

const FlagText* FindFlag(const CommandTree& command, std::string_view name) {
  for (const FlagText& flag : command.flags) {
    if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
  }
  return nullptr;
}

TEST(DescribeCommandLine, HasCommandsFlagsAndValues) {
  const CommandTree tree = DescribeCommandLine();
  const CommandTree* run = Find(tree, "run");
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(run->arguments.size(), 2u);
  EXPECT_EQ(run->arguments[0].name, "MODEL");
  EXPECT_TRUE(run->arguments[0].required);
  EXPECT_FALSE(run->arguments[1].required);
  const FlagText* most = FindFlag(*run, "--max-tokens");
  ASSERT_NE(most, nullptr);
  EXPECT_THAT(most->names, ElementsAre("-n", "--max-tokens"));
  EXPECT_EQ(most->type, "N");
  EXPECT_EQ(FindFlag(*run, "--raw")->type, "");
  EXPECT_THAT(FindFlag(*run, "--activation-terms")->words, ElementsAre("one", "outliers", "two"));
  ASSERT_NE(Find(tree, "bench"), nullptr);
  EXPECT_NE(Find(*Find(tree, "bench"), "kernels"), nullptr);
}

TEST(CompletionScript, NamesEveryCommandAndFlag) {
  const CommandTree tree = DescribeCommandLine();
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = CompletionScript(tree, shell);
    for (const CommandTree& command : tree.commands) {
      EXPECT_THAT(script, HasSubstr(command.name)) << shell;
      for (const FlagText& flag : command.flags) {
        for (const std::string& name : flag.names) EXPECT_THAT(script, HasSubstr(name.substr(name.rfind('-') + 1)));
      }
    }
  }
}

TEST(CompletionScript, QuotesWhatShellsWouldRead) {
  const CommandTree tree{
      .name = "adit", .commands = {{.name = "x", .help = "it's [a]: $b", .flags = {{{"--f"}, "N", "a'b[c]:d", {}}}}}};
  EXPECT_THAT(CompletionScript(tree, "zsh"), HasSubstr(R"('--f[a'\''b\[c\]\:d]:N:_files')"));
  EXPECT_THAT(CompletionScript(tree, "fish"), HasSubstr(R"(-d 'it\'s [a]: $b')"));
}

TEST(ManualPage, EscapesWhatRoffWouldRead) {
  const CommandTree tree{.name = "adit", .help = "x", .flags = {{{"-h", "--help"}, "", ".a\\b-c", {}}}};
  const std::string page = ManualPage(tree, "1.0");
  EXPECT_THAT(page, HasSubstr("\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n\\&.a\\eb\\-c\n"));
  EXPECT_THAT(page, HasSubstr(".TH ADIT 1"));
}

}  // namespace
}  // namespace adit::cli
