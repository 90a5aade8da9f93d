#include "cli/prompt_words.h"

#include <array>
#include <string_view>

#include "base/check.h"

namespace adit::cli {
namespace {

// Of the most frequent of English.
constexpr std::string_view kWords =
    "the of and to in is that it was for on are as with his they at be this from have or by one had not but what "
    "all were when we there can an your which their said if do will each about how up out them then she many some "
    "so these would other into has more her two like him see time could no make than first been its who now people "
    "my made over did down only way find use may water long little very after words called just where most know get "
    "through back much before go good new write our used me man too any day same right look think also around "
    "another came come work three word must because does part even place well such here take why things help put "
    "years different away again off went old number great tell men say small every found still between name should "
    "home big give air line set own under read last never us left end along while might next sound below saw "
    "something thought both few those always looked show large often together asked house world going want school "
    "important until form food keep children feet land side without boy once animals life enough took sometimes "
    "four head above kind began almost live page got earth need far hand high year mother light parts country "
    "father let night following picture being study second eyes soon times story boys since white days ever paper "
    "hard near sentence better best across during";

constexpr std::array<std::string_view, kNumPromptWords> SplitWords() {
  std::array<std::string_view, kNumPromptWords> words;
  size_t begin = 0;
  for (std::string_view& word : words) {
    const size_t end = kWords.find(' ', begin);
    word = kWords.substr(begin, end - begin);
    begin = end + 1;
  }
  return words;
}

constexpr std::array<std::string_view, kNumPromptWords> kSplitWords = SplitWords();
static_assert(!kSplitWords.back().empty() && kSplitWords.back() != kSplitWords.front());

}  // namespace

std::string PromptText(std::span<const int32_t> words) {
  std::string text;
  for (const int32_t word : words) {
    ADIT_CHECK(word >= 0 && word < kNumPromptWords);
    if (!text.empty()) text += ' ';
    text += kSplitWords[static_cast<size_t>(word)];
  }
  return text;
}

}  // namespace adit::cli
