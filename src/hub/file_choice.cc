#include "hub/file_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"

namespace adit::hub {
namespace {

constexpr std::string_view kGguf = ".gguf";
// What is taken when nobody says: the first of these that there is.
constexpr std::array<std::string_view, 10> kUsualQuants = {"Q4_K_M", "Q4_K_S", "Q5_K_M", "Q4_0", "Q4_1",
                                                           "IQ4_XS", "Q6_K",   "Q8_0",   "BF16", "F16"};

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return upper;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "-00001-of-00003" at the end of a name: its length, or 0.
size_t PartSuffix(std::string_view stem) {
  constexpr std::string_view kShape = "-00000-of-00000";
  if (stem.size() < kShape.size()) return 0;
  const std::string_view end = stem.substr(stem.size() - kShape.size());
  const bool fits = std::equal(end.begin(), end.end(), kShape.begin(),
                               [](char got, char wanted) { return wanted == '0' ? IsDigit(got) : got == wanted; });
  return fits ? kShape.size() : 0;
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The path of a model without what tells its parts apart.
std::string ModelOfPart(std::string_view path) {
  const std::string_view stem = path.substr(0, path.size() - kGguf.size());
  return std::string(stem.substr(0, stem.size() - PartSuffix(stem)));
}

bool IsModelFile(std::string_view path) {
  const std::string name = UpperCase(BaseName(path));
  // Vision towers and importance matrices are GGUF files too, and no models.
  return name.ends_with(".GGUF") && name.find("MMPROJ") == std::string::npos &&
         name.find("IMATRIX") == std::string::npos;
}

// Whether a word is the name of a quantisation: Q4_K_M, IQ2_XXS, F16, MXFP4, TQ1_0.
bool IsQuant(std::string_view word) {
  for (const std::string_view plain : {"F16", "BF16", "F32", "FP16", "FP32", "MXFP4", "NVFP4", "MXFP4_MOE"}) {
    if (word == plain) return true;
  }
  if (word.starts_with('I') || word.starts_with('T')) word.remove_prefix(1);
  if (word.size() < 2 || word[0] != 'Q' || !IsDigit(word[1])) return false;
  return word.size() == 2 || word[2] == '_';
}

struct GgufGroup {
  std::string quant;
  std::vector<HubFile> files;
};

// The models among GGUF files: parts of one stand together, in order.
std::map<std::string, GgufGroup> GroupsOf(const std::vector<HubFile>& files) {
  std::map<std::string, GgufGroup> groups;
  for (const HubFile& file : files) {
    if (!IsModelFile(file.path)) continue;
    GgufGroup& group = groups[ModelOfPart(file.path)];
    group.quant = QuantOfName(file.path);
    group.files.push_back(file);
  }
  for (auto& [name, group] : groups) {
    std::sort(group.files.begin(), group.files.end(),
              [](const HubFile& a, const HubFile& b) { return a.path < b.path; });
  }
  return groups;
}

std::string Listed(const std::map<std::string, GgufGroup>& groups) {
  std::string list;
  for (const auto& [name, group] : groups) {
    list += (list.empty() ? "" : ", ") + (group.quant.empty() ? std::string(BaseName(name)) : group.quant);
  }
  return list;
}

Result<FileChoice> ChooseGguf(const std::map<std::string, GgufGroup>& groups, const std::string& quant) {
  std::vector<const GgufGroup*> found;
  const auto find = [&](std::string_view wanted) {
    for (const auto& [name, group] : groups) {
      if (group.quant == wanted) found.push_back(&group);
    }
  };
  if (quant.empty() && groups.size() == 1) found.push_back(&groups.begin()->second);
  if (quant.empty()) {
    for (const std::string_view usual : kUsualQuants) {
      if (found.empty()) find(usual);
    }
  } else {
    find(UpperCase(quant));
  }
  if (found.empty()) {
    return NotFound("{}; there are: {}",
                    quant.empty() ? "none of the usual quantisations is there, so one is to be named"
                                  : fmt::format("there is no quantisation '{}'", quant),
                    Listed(groups));
  }
  if (found.size() > 1) {
    std::string list;
    for (const GgufGroup* group : found) list += (list.empty() ? "" : ", ") + group->files.front().path;
    return InvalidArgument("several files are of '{}': {}; --include tells which", found.front()->quant, list);
  }
  const std::vector<HubFile>& files = found.front()->files;
  return FileChoice{.quant = found.front()->quant, .open = files.front().path, .files = files};
}

// The files of a folder as the transformers library has it: those of the root that a model is read from.
std::vector<HubFile> FolderOf(const std::vector<HubFile>& files) {
  const auto is_root = [](const HubFile& file) { return file.path.find('/') == std::string::npos; };
  // Some repositories have the weights a second time, in the shape of who trained them.
  const bool has_usual_name = std::any_of(files.begin(), files.end(), [&](const HubFile& file) {
    return is_root(file) && file.path.starts_with("model") && file.path.ends_with(".safetensors");
  });
  std::vector<HubFile> chosen;
  for (const HubFile& file : files) {
    if (!is_root(file)) continue;
    const std::string& path = file.path;
    const bool is_weights = path.ends_with(".safetensors") && (!has_usual_name || path.starts_with("model"));
    const bool is_described = path.ends_with(".json") || path.ends_with(".jinja") || path.ends_with(".model") ||
                              path == "merges.txt" || path == "vocab.txt" || path.starts_with("LICENSE");
    if (is_weights || is_described) chosen.push_back(file);
  }
  return chosen;
}

Result<FileChoice> ChooseByName(const std::vector<HubFile>& files, const std::vector<std::string>& include) {
  FileChoice choice;
  for (const HubFile& file : files) {
    const bool wanted = std::any_of(include.begin(), include.end(),
                                    [&](const std::string& glob) { return MatchesGlob(glob, file.path); });
    if (wanted) choice.files.push_back(file);
  }
  if (choice.files.empty()) return NotFound("no file matches --include; there are {} files", files.size());
  const std::map<std::string, GgufGroup> groups = GroupsOf(choice.files);
  if (!groups.empty()) {
    choice.open = groups.begin()->second.files.front().path;
    if (groups.size() == 1) choice.quant = groups.begin()->second.quant;
  }
  return choice;
}

}  // namespace

std::string QuantOfName(std::string_view path) {
  if (!UpperCase(path).ends_with(".GGUF")) return "";
  const std::string stem = UpperCase(BaseName(ModelOfPart(path)));
  // The last word that is one: names of models may look like quantisations too.
  for (size_t end = stem.size(); end != std::string::npos && end > 0;) {
    const size_t begin = stem.find_last_of("-.", end - 1);
    const std::string_view word = std::string_view(stem).substr(begin + 1, end - begin - 1);
    if (IsQuant(word)) return std::string(word);
    // model_q4_k_m: behind an underscore.
    for (size_t at = word.find('_'); at != std::string_view::npos; at = word.find('_', at + 1)) {
      if (IsQuant(word.substr(at + 1))) return std::string(word.substr(at + 1));
    }
    end = begin;
  }
  return "";
}

bool MatchesGlob(std::string_view glob, std::string_view text) {
  size_t at = 0;
  size_t in = 0;
  size_t star = std::string_view::npos;
  size_t star_at = 0;
  // Where a '*' was too short, it takes one byte more: never more than the product of the lengths.
  while (at < text.size()) {
    if (in < glob.size() && (glob[in] == '?' || glob[in] == text[at]) && glob[in] != '*') {
      ++in;
      ++at;
    } else if (in < glob.size() && glob[in] == '*') {
      star = in++;
      star_at = at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (in < glob.size() && glob[in] == '*') ++in;
  return in == glob.size();
}

Result<FileChoice> ChooseFiles(const std::vector<HubFile>& files, const std::string& quant,
                               const std::vector<std::string>& include) {
  if (!include.empty()) return ChooseByName(files, include);
  const std::map<std::string, GgufGroup> groups = GroupsOf(files);
  if (!groups.empty()) return ChooseGguf(groups, quant);
  FileChoice choice{.files = FolderOf(files)};
  const auto has = [&](std::string_view end) {
    return std::any_of(choice.files.begin(), choice.files.end(),
                       [&](const HubFile& file) { return file.path.ends_with(end); });
  };
  if (!has(".safetensors") || !has("config.json")) {
    return NotFound("there is neither a GGUF file nor a folder of safetensors among its {} files", files.size());
  }
  if (!quant.empty())
    return NotFound("there is no quantisation '{}'; there are safetensors, without ':{}'", quant, quant);
  return choice;
}

}  // namespace adit::hub
