#include "quant/layer_store.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/atomic_file.h"
#include "formats/model_folder_writer.h"
#include "formats/quoted.h"
#include "formats/safetensors.h"
#include "quant/layer_rounder.h"

namespace adit::quant {
namespace {

constexpr const char* kRunFile = "run";
constexpr std::string_view kLargestInputs = "largest_inputs";  // no tensor of a model: it has no type before its name

// The name of the folder in which a layer is: of bytes whose types stand before the tensors' names.
std::string KeptName(DType dtype, std::string_view tensor) { return fmt::format("{}:{}", Traits(dtype).name, tensor); }

Status WriteRun(const std::string& path, const std::string& run) {
  ADIT_ASSIGN_OR_RETURN(formats::AtomicFile file, formats::AtomicFile::Create(path, "quantize"));
  ADIT_RETURN_IF_ERROR(file.Write(run.data(), run.size()));
  return file.Finish();
}

}  // namespace

Result<std::unique_ptr<LayerStore>> LayerStore::Open(const std::string& folder, uint64_t run) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Io("{}: cannot create the folder: {}", folder, error.message());
  const std::string path = fmt::format("{}/{}", folder, kRunFile);
  const std::string wanted = fmt::format("{:016x}\n", run);
  if (!std::filesystem::exists(path, error)) {
    if (!std::filesystem::is_empty(folder, error)) {
      return InvalidArgument("{}: the folder holds other things than layers of adit quantize; wanted an empty one",
                             folder);
    }
    ADIT_RETURN_IF_ERROR(WriteRun(path, wanted));
  }
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (line + "\n" != wanted) {
    return FailedPrecondition(
        "{}: the folder holds layers of a run with another model, type, method or text; remove it, or name another one",
        folder);
  }
  return std::unique_ptr<LayerStore>(new LayerStore(folder));
}

std::string LayerStore::PathOf(size_t layer) const { return fmt::format("{}/layer-{:05}", folder_, layer); }

bool LayerStore::Has(size_t layer) const {
  std::error_code error;
  return std::filesystem::is_directory(PathOf(layer), error);
}

Result<std::unique_ptr<RoundedLayer>> LayerStore::Load(size_t layer, const formats::WeightSource& model) const {
  ADIT_ASSIGN_OR_RETURN(const formats::SafetensorsFolder kept, formats::SafetensorsFolder::Open(PathOf(layer)));
  auto rounded = std::make_unique<RoundedLayer>(model);
  for (const formats::SafetensorsFile& file : kept.files()) {
    for (const formats::SafetensorsTensor& tensor : file.tensors()) {
      if (tensor.name == kLargestInputs && tensor.data.size() == kNumLayerInputs * sizeof(float)) {
        rounded->largest_inputs.resize(kNumLayerInputs);
        std::memcpy(rounded->largest_inputs.data(), tensor.data.data(), tensor.data.size());
        continue;
      }
      const size_t colon = tensor.name.find(':');
      const std::optional<DType> dtype = ParseDType(std::string_view(tensor.name).substr(0, colon));
      const formats::TensorInfo* origin =
          colon == std::string::npos ? nullptr : model.Find(std::string_view(tensor.name).substr(colon + 1));
      if (!dtype || origin == nullptr ||
          tensor.data.size() != RowBytes(*dtype, origin->row_elements()) * static_cast<size_t>(origin->num_rows())) {
        return Corrupt("{}: {} is no tensor of this model", file.path(), formats::Quoted(tensor.name));
      }
      rounded->Add(*origin, *dtype, std::vector<std::byte>(tensor.data.begin(), tensor.data.end()));
    }
  }
  return rounded;
}

Status LayerStore::Save(size_t layer, const RoundedLayer& rounded) const {
  std::vector<formats::SafetensorsPlan> plans;
  rounded.ForEach([&](const formats::TensorInfo& tensor) {
    plans.push_back({.name = KeptName(tensor.dtype, tensor.name),
                     .type = formats::FindSafetensorsType("U8"),
                     .shape = {static_cast<int64_t>(tensor.data.size())}});
  });
  const std::span<const std::byte> largest_inputs = std::as_bytes(std::span(rounded.largest_inputs));
  if (!largest_inputs.empty()) {
    plans.push_back({.name = std::string(kLargestInputs),
                     .type = formats::FindSafetensorsType("U8"),
                     .shape = {static_cast<int64_t>(largest_inputs.size())}});
  }
  ADIT_ASSIGN_OR_RETURN(formats::ModelFolderWriter writer,
                        formats::ModelFolderWriter::Create(PathOf(layer), std::move(plans)));
  Status written;
  rounded.ForEach([&](const formats::TensorInfo& tensor) {
    if (written.ok()) written = writer.Append(tensor.data);
  });
  ADIT_RETURN_IF_ERROR(written);
  if (!largest_inputs.empty()) ADIT_RETURN_IF_ERROR(writer.Append(largest_inputs));
  return writer.Finish();
}

void LayerStore::Remove() const {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

}  // namespace adit::quant
