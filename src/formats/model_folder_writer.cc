#include "formats/model_folder_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "formats/json.h"
#include "formats/json_text.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

Json TextJson(std::string_view text) { return Json(std::string(text)); }

}  // namespace

size_t SafetensorsPlan::size_bytes() const {
  const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  return static_cast<size_t>(elements) * static_cast<size_t>(type->element_bytes);
}

// A name beside the wanted one that nobody has.
Status ModelFolderWriter::MakeFolder(const std::string& path) {
  path_ = path;
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code error;
  if (std::filesystem::exists(path_, error) && !std::filesystem::is_directory(path_, error)) {
    return InvalidArgument("{} is a file, wanted the name of a folder", path_);
  }
  if (std::filesystem::is_directory(path_, error) && !std::filesystem::is_empty(path_, error)) {
    return InvalidArgument("{}: the folder is not empty; wanted a new name or an empty folder", path_);
  }
  for (int i = 0; i < 100; ++i) {
    temporary_path_ = fmt::format("{}.{}-{}.tmp", path_, ::getpid(), i);
    if (std::filesystem::create_directory(temporary_path_, error)) return Status();
    if (error) break;
  }
  temporary_path_.clear();
  return Io("{}: cannot create a folder beside it: {}", path_, error.message());
}

void ModelFolderWriter::CutIntoFiles(size_t max_file_bytes) {
  places_.resize(tensors_.size());
  size_t file_bytes = 0;
  size_t file = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const size_t bytes = tensors_[i].size_bytes();
    if (file_bytes > 0 && file_bytes + bytes > max_file_bytes) {
      ++file;
      file_bytes = 0;
    }
    places_[i].file = file;
    file_bytes += bytes;
  }
  num_files_ = file + 1;
}

Result<ModelFolderWriter> ModelFolderWriter::Create(const std::string& path, std::vector<SafetensorsPlan> tensors,
                                                    size_t max_file_bytes) {
  ModelFolderWriter writer;
  std::set<std::string_view> names;
  for (const SafetensorsPlan& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      return InvalidArgument("safetensors: {}: two tensors are called {}", path, Quoted(tensor.name));
    }
  }
  writer.tensors_ = std::move(tensors);
  writer.CutIntoFiles(max_file_bytes);
  ADIT_RETURN_IF_ERROR(writer.MakeFolder(path));
  return writer;
}

ModelFolderWriter::ModelFolderWriter(ModelFolderWriter&& other) noexcept { *this = std::move(other); }

ModelFolderWriter& ModelFolderWriter::operator=(ModelFolderWriter&& other) noexcept {
  if (this != &other) {
    Abandon();
    path_ = std::move(other.path_);
    temporary_path_ = std::exchange(other.temporary_path_, std::string());
    tensors_ = std::move(other.tensors_);
    places_ = std::move(other.places_);
    num_files_ = other.num_files_;
    file_ = std::move(other.file_);
    current_ = other.current_;
    written_bytes_ = other.written_bytes_;
  }
  return *this;
}

ModelFolderWriter::~ModelFolderWriter() { Abandon(); }

void ModelFolderWriter::Abandon() noexcept {
  file_.reset();
  std::error_code error;
  if (!temporary_path_.empty()) std::filesystem::remove_all(temporary_path_, error);
  temporary_path_.clear();
}

std::string ModelFolderWriter::FileName(size_t file) const {
  if (num_files_ == 1) return "model.safetensors";
  return fmt::format("model-{:05}-of-{:05}.safetensors", file + 1, num_files_);
}

Status ModelFolderWriter::WriteFile(std::string_view name, std::string_view contents) {
  if (name.empty() || name.find('/') != std::string_view::npos) {
    return InvalidArgument("{}: a file of a folder cannot be called {}", path_, Quoted(std::string(name)));
  }
  ADIT_ASSIGN_OR_RETURN(AtomicFile file,
                        AtomicFile::Create(fmt::format("{}/{}", temporary_path_, name), std::string(name)));
  ADIT_RETURN_IF_ERROR(file.Write(contents.data(), contents.size()));
  return file.Finish();
}

// The header of a file with its length in front, and the places of its tensors.
Result<std::string> ModelFolderWriter::LayOut(size_t file) {
  std::vector<size_t> order;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (places_[i].file == file) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater<>(), [this](size_t i) { return tensors_[i].type->element_bytes; });
  Json::Object entries;
  entries.emplace_back("__metadata__", Json(Json::Object{{"format", TextJson("pt")}}));
  size_t offset = 0;
  for (const size_t i : order) {
    const SafetensorsPlan& tensor = tensors_[i];
    Json::Array shape;
    for (const int64_t size : tensor.shape) shape.push_back(Json(size));
    places_[i].offset_bytes = offset;
    Json::Array offsets{Json(static_cast<int64_t>(offset)), Json(static_cast<int64_t>(offset + tensor.size_bytes()))};
    offset += tensor.size_bytes();
    entries.emplace_back(tensor.name, Json(Json::Object{{"dtype", TextJson(tensor.type->name)},
                                                        {"shape", Json(std::move(shape))},
                                                        {"data_offsets", Json(std::move(offsets))}}));
  }
  std::string header = JsonText(Json(std::move(entries)), /*indented=*/false);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  for (const size_t i : order) places_[i].offset_bytes += sizeof(length) + header.size();
  return bytes + header;
}

Status ModelFolderWriter::OpenFile(size_t file) {
  if (file_) ADIT_RETURN_IF_ERROR(file_->Finish());
  ADIT_ASSIGN_OR_RETURN(const std::string header, LayOut(file));
  ADIT_ASSIGN_OR_RETURN(AtomicFile opened,
                        AtomicFile::Create(fmt::format("{}/{}", temporary_path_, FileName(file)), "safetensors"));
  file_ = std::move(opened);
  return file_->Write(header.data(), header.size());
}

Status ModelFolderWriter::Append(std::span<const std::byte> bytes) {
  if (current_ == tensors_.size()) {
    return FailedPrecondition("safetensors: {}: {} bytes after the last tensor", path_, bytes.size());
  }
  const SafetensorsPlan& tensor = tensors_[current_];
  if (bytes.size() > tensor.size_bytes() - written_bytes_) {
    return FailedPrecondition("safetensors: {}: {} bytes of tensor {}, {} are missing", path_, bytes.size(),
                              Quoted(tensor.name), tensor.size_bytes() - written_bytes_);
  }
  if (written_bytes_ == 0) {
    const bool begins_file = current_ == 0 || places_[current_].file != places_[current_ - 1].file;
    if (begins_file) ADIT_RETURN_IF_ERROR(OpenFile(places_[current_].file));
    ADIT_RETURN_IF_ERROR(file_->Seek(places_[current_].offset_bytes));
  }
  ADIT_RETURN_IF_ERROR(file_->Write(bytes.data(), bytes.size()));
  written_bytes_ += bytes.size();
  if (written_bytes_ == tensor.size_bytes()) {
    ++current_;
    written_bytes_ = 0;
  }
  return Status();
}

Status ModelFolderWriter::WriteIndex() {
  Json::Object map;
  size_t total = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    map.emplace_back(tensors_[i].name, TextJson(FileName(places_[i].file)));
    total += tensors_[i].size_bytes();
  }
  const Json index(Json::Object{{"metadata", Json(Json::Object{{"total_size", Json(static_cast<int64_t>(total))}})},
                                {"weight_map", Json(std::move(map))}});
  return WriteFile("model.safetensors.index.json", JsonText(index, /*indented=*/true));
}

Status ModelFolderWriter::Finish() {
  if (temporary_path_.empty()) return FailedPrecondition("safetensors: {}: finished twice", path_);
  if (current_ != tensors_.size()) {
    return FailedPrecondition("safetensors: {}: bytes of tensor {} are missing", path_,
                              Quoted(tensors_[current_].name));
  }
  if (file_) ADIT_RETURN_IF_ERROR(file_->Finish());
  if (num_files_ > 1) ADIT_RETURN_IF_ERROR(WriteIndex());
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    return Io("{}: cannot put the folder in its place: {}", path_, std::strerror(errno));
  }
  temporary_path_.clear();
  return Status();
}

}  // namespace adit::formats
