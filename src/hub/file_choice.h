#ifndef ADIT_HUB_FILE_CHOICE_H_
#define ADIT_HUB_FILE_CHOICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "hub/hub_client.h"

namespace adit::hub {

// What of a repository is fetched, and what it is to be opened by.
struct FileChoice {
  std::string quant;  // "Q4_K_M"; empty: a folder of safetensors, or files chosen by name
  std::string open;   // the file, or "" for the folder, that is opened as the model
  std::vector<HubFile> files;
};

// Chooses the files of one model: the GGUF file of `quant`, with all its parts, or of the usual quantisation where none
// is named; else the root's safetensors with the files that belong to them. With globs in `include` (* and ?, * also
// over slashes) those that match are fetched and no others. NotFound, with what there is, when nothing fits.
Result<FileChoice> ChooseFiles(const std::vector<HubFile>& files, const std::string& quant,
                               const std::vector<std::string>& include);

// The quantisation that a GGUF file's name tells, in upper case; empty: none.
std::string QuantOfName(std::string_view path);

bool MatchesGlob(std::string_view glob, std::string_view text);

}  // namespace adit::hub

#endif  // ADIT_HUB_FILE_CHOICE_H_
