#include "formats/hf_folder.h"

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "formats/mapped_file.h"

namespace adit::formats {
namespace {

// Python writes infinities that JSON does not have.
constexpr JsonLimits kConfigLimits{.max_bytes = size_t{16} << 20, .allow_infinity = true};
constexpr size_t kMaxTemplateBytes = size_t{1} << 20;

// An object, empty where there is no such file.
Result<Json> ReadObject(const std::string& path, bool required) {
  if (!required && !FileExists(path)) return Json(Json::Object());
  ADIT_ASSIGN_OR_RETURN(Json json, Json::ReadFile(path, kConfigLimits));
  if (json.AsObject() == nullptr) return Corrupt("{}: {}, wanted an object", path, json.KindName());
  return json;
}

// What stands in the folder of a model whose weights are in another format.
Status ExplainWeights(const std::string& folder, const Status& status) {
  if (status.code() != StatusCode::kNotFound) return status;
  for (const char* other :
       {"pytorch_model.bin", "pytorch_model.bin.index.json", "consolidated.00.pth", "tf_model.h5"}) {
    if (!FileExists(folder + "/" + other)) continue;
    return Unsupported("{}: the weights are in {}; this build reads safetensors", folder, other);
  }
  return status;
}

// "default" of a list of named templates, as transformers before version 5 saves them.
const Json* DefaultTemplate(const Json::Array& templates) {
  for (const Json& entry : templates) {
    const Json* name = entry.Find("name");
    if (name != nullptr && name->AsString() != nullptr && *name->AsString() == "default") return entry.Find("template");
  }
  return nullptr;
}

}  // namespace

bool HfFolder::HasFile(std::string_view name) const { return FileExists(fmt::format("{}/{}", path_, name)); }

Status HfFolder::ReadChatTemplate() {
  if (HasFile("chat_template.jinja")) {
    ADIT_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path_ + "/chat_template.jinja"));
    if (file.size_bytes() > kMaxTemplateBytes) {
      return ResourceExhausted("{}/chat_template.jinja: {} bytes, the limit is {}", path_, file.size_bytes(),
                               kMaxTemplateBytes);
    }
    chat_template_.assign(reinterpret_cast<const char*>(file.bytes().data()), file.size_bytes());
    if (!IsValidUtf8(chat_template_)) return Corrupt("{}/chat_template.jinja: not UTF-8", path_);
    return Status();
  }
  const JsonFields config = tokenizer_config();
  const Json* value = config.Find("chat_template");
  if (value != nullptr && value->AsArray() != nullptr) value = DefaultTemplate(*value->AsArray());
  if (value == nullptr) return Status();
  if (value->AsString() == nullptr) {
    return Corrupt("{}: chat_template is {}, wanted a string", config.where(), value->KindName());
  }
  chat_template_ = *value->AsString();
  return Status();
}

HfFolder HfFolder::Of(Json config, Json generation_config) {
  HfFolder folder("folder", SafetensorsFolder());
  folder.config_ = std::move(config);
  folder.generation_config_ = std::move(generation_config);
  folder.pooling_config_ = Json(Json::Object());
  folder.tokenizer_config_ = Json(Json::Object());
  return folder;
}

Result<HfFolder> HfFolder::Open(const std::string& path) {
  const std::string config_path = path + "/config.json";
  if (!FileExists(config_path)) return NotFound("{}: no config.json in this folder", path);
  ADIT_ASSIGN_OR_RETURN(Json config, ReadObject(config_path, /*required=*/true));
  Result<SafetensorsFolder> weights = SafetensorsFolder::Open(path);
  if (!weights.ok()) return ExplainWeights(path, weights.status());
  HfFolder folder(path, *std::move(weights));
  folder.config_ = std::move(config);
  ADIT_ASSIGN_OR_RETURN(folder.generation_config_, ReadObject(path + "/generation_config.json", /*required=*/false));
  ADIT_ASSIGN_OR_RETURN(folder.pooling_config_, ReadObject(path + "/1_Pooling/config.json", /*required=*/false));
  ADIT_ASSIGN_OR_RETURN(folder.tokenizer_config_, ReadObject(path + "/tokenizer_config.json", /*required=*/false));
  ADIT_RETURN_IF_ERROR(folder.ReadChatTemplate());
  return folder;
}

}  // namespace adit::formats
