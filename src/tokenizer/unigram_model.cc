#include "tokenizer/unigram_model.h"

#include <algorithm>
#include <utility>

#include "tokenizer/lenient_utf8.h"

namespace adit::tokenizer {
namespace {

constexpr size_t kNone = std::string_view::npos;

}  // namespace

UnigramModel::UnigramModel(std::span<const TextToken> tokens, std::vector<double> scores, UnigramOptions options)
    : trie_(tokens), scores_(std::move(scores)), options_(std::move(options)) {}

void UnigramModel::Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const {
  Path path;
  for (const TextRange& range : words) EncodeWord(text.substr(range.begin, range.end - range.begin), path, ids);
}

// A place that no token spans is on every path, so the word is done in stretches between such places: memory is that of
// a stretch. The sum of scores goes on over them, so it is rounded as if the word were done at once.
void UnigramModel::EncodeWord(std::string_view word, Path& path, std::vector<int32_t>& ids) const {
  size_t begin = 0;
  size_t reach = 0;
  size_t unknown_begin = kNone;
  path.steps.assign(1, Step());
  for (size_t pos = 0; pos < word.size();) {
    if (pos > begin && reach == pos) {
      const double score = path.steps[pos - begin].score;
      Emit(word.substr(begin, pos - begin), path, unknown_begin, begin, word, ids);
      begin = pos;
      path.steps.assign(1, Step{score, 0, -1});
    }
    reach = std::max(reach, Extend(word, begin, pos, path));
    pos += CharLength(word[pos]);
  }
  Emit(word.substr(begin), path, unknown_begin, begin, word, ids);
  if (unknown_begin != kNone) EmitUnknown(word.substr(unknown_begin), ids);
}

// Tries the tokens that start at `pos`. Returns where the longest of them ends.
size_t UnigramModel::Extend(std::string_view word, size_t begin, size_t pos, Path& path) const {
  const double score = path.steps[pos - begin].score;
  const size_t char_length = CharLength(word[pos]);
  const auto try_step = [&](size_t length, double token_score, int32_t id) {
    const size_t at = pos - begin + length;
    if (path.steps.size() <= at) path.steps.resize(at + 1);
    Step& step = path.steps[at];
    const double sum = token_score + score;
    if (step.length == 0 || sum > step.score) step = {sum, static_cast<uint32_t>(length), id};
  };
  bool has_character = false;
  size_t longest = char_length;
  uint32_t node = 0;
  for (size_t i = pos; i < word.size() && trie_.Step(node, word[i]); ++i) {
    const int32_t id = trie_.Token(node);
    if (id < 0) continue;
    const size_t length = i + 1 - pos;
    has_character = has_character || length == char_length;
    longest = std::max(longest, length);
    try_step(length, scores_[static_cast<size_t>(id)], id);
  }
  if (!has_character) try_step(char_length, options_.unknown_score, kUnknown);
  return pos + longest;
}

// Follows the best way back from the end of the stretch and writes its tokens. unknown_begin: where in the word a row
// of unknown characters began that may go on.
void UnigramModel::Emit(std::string_view stretch, Path& path, size_t& unknown_begin, size_t stretch_begin,
                        std::string_view word, std::vector<int32_t>& ids) const {
  path.taken.clear();
  for (size_t end = stretch.size(); end > 0; end -= path.taken.back().length) path.taken.push_back(path.steps[end]);
  size_t pos = stretch_begin;
  for (size_t i = path.taken.size(); i-- > 0;) {
    const Step& step = path.taken[i];
    if (step.id == kUnknown) {
      if (unknown_begin == kNone) unknown_begin = pos;
    } else {
      if (unknown_begin != kNone) EmitUnknown(word.substr(unknown_begin, pos - unknown_begin), ids);
      unknown_begin = kNone;
      ids.push_back(step.id);
    }
    pos += step.length;
  }
}

void UnigramModel::EmitUnknown(std::string_view text, std::vector<int32_t>& ids) const {
  const auto& bytes = options_.byte_fallback;
  const bool spelled = !bytes.empty() && std::all_of(text.begin(), text.end(), [&](char byte) {
    return bytes[static_cast<unsigned char>(byte)] >= 0;
  });
  if (spelled) {
    for (const char byte : text) ids.push_back(bytes[static_cast<unsigned char>(byte)]);
  } else if (options_.unknown >= 0) {
    ids.push_back(options_.unknown);
  }
}

}  // namespace adit::tokenizer
