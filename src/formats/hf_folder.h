#ifndef ADIT_FORMATS_HF_FOLDER_H_
#define ADIT_FORMATS_HF_FOLDER_H_

#include <string>
#include <string_view>

#include "adit/status.h"
#include "formats/json.h"
#include "formats/json_fields.h"
#include "formats/safetensors.h"

namespace adit::formats {

// A model as Hugging Face's transformers saves it: a folder with config.json and safetensors, and beside them, where
// they are there, generation_config.json, tokenizer files and a chat template. Immutable.
class HfFolder {
 public:
  // NotFound without config.json or weights; Corrupt for a file that breaks its format.
  static Result<HfFolder> Open(const std::string& path);
  // A folder of these two files, both objects, and nothing else. For tests and fuzzing.
  static HfFolder Of(Json config, Json generation_config);

  const std::string& path() const { return path_; }
  JsonFields config() const { return {config_, path_ + "/config.json"}; }
  const Json& config_json() const { return config_; }
  // An empty object where the file is not there.
  JsonFields generation_config() const { return {generation_config_, path_ + "/generation_config.json"}; }
  // Of 1_Pooling/config.json, which folders of sentence-transformers have; else an empty object.
  JsonFields pooling_config() const { return {pooling_config_, path_ + "/1_Pooling/config.json"}; }
  JsonFields tokenizer_config() const { return {tokenizer_config_, path_ + "/tokenizer_config.json"}; }
  // Of chat_template.jinja, else of tokenizer_config.json; empty when there is none.
  const std::string& chat_template() const { return chat_template_; }
  const SafetensorsFolder& weights() const { return weights_; }

  // Whether the folder has a file of that name.
  bool HasFile(std::string_view name) const;

 private:
  HfFolder(std::string path, SafetensorsFolder weights) : path_(std::move(path)), weights_(std::move(weights)) {}
  Status ReadChatTemplate();

  std::string path_;
  Json config_;
  Json generation_config_;
  Json pooling_config_;
  Json tokenizer_config_;
  std::string chat_template_;
  SafetensorsFolder weights_;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_HF_FOLDER_H_
