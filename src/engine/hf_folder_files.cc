#include "engine/hf_folder_files.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "formats/hf_folder.h"
#include "formats/json_text.h"
#include "formats/mapped_file.h"
#include "models/hf_config_of_gguf.h"
#include "tokenizer/gguf_tokenizer_json.h"

namespace adit::engine {
namespace {

using formats::Json;

// What tools keep beside the weights of a model.
constexpr const char* kCopied[] = {"generation_config.json", "tokenizer.json",      "tokenizer_config.json",
                                   "tokenizer.model",        "vocab.json",          "merges.txt",
                                   "added_tokens.json",      "chat_template.jinja", "special_tokens_map.json",
                                   "chat_template.json"};

Result<HfFolderFiles> CopiedFiles(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(const formats::HfFolder folder, formats::HfFolder::Open(path));
  HfFolderFiles files{.config = folder.config_json()};
  std::erase_if(*files.config.AsObject(), [](const auto& member) {
    return member.first == "quantization_config" || member.first == "compression_config";
  });
  for (const char* name : kCopied) {
    if (!folder.HasFile(name)) continue;
    ADIT_ASSIGN_OR_RETURN(const formats::MappedFile file, formats::MappedFile::Open(path + "/" + name));
    files.others.emplace_back(name, std::string(reinterpret_cast<const char*>(file.bytes().data()), file.size_bytes()));
  }
  return files;
}

}  // namespace

Result<HfFolderFiles> HfFilesOf(const formats::GgufFile& model) {
  const bool is_folder = model.version() == 0;
  if (is_folder) return CopiedFiles(model.path());
  HfFolderFiles files;
  ADIT_ASSIGN_OR_RETURN(files.config, models::HfConfigOfGguf(model));
  const auto add = [&files](const char* name, const Json& json, bool indented) {
    files.others.emplace_back(name, formats::JsonText(json, indented));
  };
  ADIT_ASSIGN_OR_RETURN(const Json generation, models::HfGenerationConfigOfGguf(model.metadata()));
  add("generation_config.json", generation, /*indented=*/true);
  ADIT_ASSIGN_OR_RETURN(const Json tokenizer, tokenizer::TokenizerJsonOfGguf(model.metadata()));
  add("tokenizer.json", tokenizer, /*indented=*/false);
  ADIT_ASSIGN_OR_RETURN(const Json config, tokenizer::TokenizerConfigOfGguf(model.metadata()));
  add("tokenizer_config.json", config, /*indented=*/true);
  ADIT_ASSIGN_OR_RETURN(const std::string_view chat, model.metadata().StringOr("tokenizer.chat_template", ""));
  if (!chat.empty()) files.others.emplace_back("chat_template.jinja", std::string(chat));
  return files;
}

}  // namespace adit::engine
