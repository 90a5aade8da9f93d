#ifndef ADIT_FORMATS_MODEL_FOLDER_WRITER_H_
#define ADIT_FORMATS_MODEL_FOLDER_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "formats/atomic_file.h"
#include "formats/safetensors_type.h"

namespace adit::formats {

// What a safetensors file's header says of one tensor.
struct SafetensorsPlan {
  std::string name;
  const SafetensorsType* type = nullptr;
  std::vector<int64_t> shape;  // empty: a scalar

  size_t size_bytes() const;
};

// Writes a folder as transformers saves a model: the weights in model.safetensors, or in several files with
// model.safetensors.index.json where they are more than max_file_bytes, and beside them whatever files there are. A
// stretch of bytes at a time, so that nothing need fit in memory. The folder appears under its name whole or not at
// all: until Finish all goes to one beside it, which is removed if the writer dies before. Movable; one thread at a
// time.
//
// In a file tensors of wider elements come first, so that each begins at a multiple of its elements' size, which
// readers that map files need.
class ModelFolderWriter {
 public:
  // As transformers cuts.
  static constexpr size_t kMaxFileBytes = size_t{5'000'000'000};

  // InvalidArgument where `path` is there and no empty folder, and for two tensors of one name; Io when the system
  // refuses.
  static Result<ModelFolderWriter> Create(const std::string& path, std::vector<SafetensorsPlan> tensors,
                                          size_t max_file_bytes = kMaxFileBytes);

  ModelFolderWriter(ModelFolderWriter&& other) noexcept;
  ModelFolderWriter& operator=(ModelFolderWriter&& other) noexcept;
  ~ModelFolderWriter();

  // Another file of the folder. InvalidArgument for a name with a slash.
  Status WriteFile(std::string_view name, std::string_view contents);
  // The next bytes of the tensor that is not complete yet, in the order of the plan; they may not reach into the next.
  // FailedPrecondition when they do.
  Status Append(std::span<const std::byte> bytes);
  // Puts the folder in its place. FailedPrecondition when bytes are missing. Nothing can be written after.
  Status Finish();

 private:
  // Where a tensor's bytes go.
  struct Place {
    size_t file = 0;
    size_t offset_bytes = 0;  // in the file
  };

  ModelFolderWriter() = default;
  Status MakeFolder(const std::string& path);
  void CutIntoFiles(size_t max_file_bytes);
  Result<std::string> LayOut(size_t file);
  Status OpenFile(size_t file);
  std::string FileName(size_t file) const;
  Status WriteIndex();
  void Abandon() noexcept;

  std::string path_;
  std::string temporary_path_;  // empty once the folder is in its place
  std::vector<SafetensorsPlan> tensors_;
  std::vector<Place> places_;  // of each tensor
  size_t num_files_ = 0;
  std::optional<AtomicFile> file_;  // that is written now
  size_t current_ = 0;              // tensor
  size_t written_bytes_ = 0;        // of it
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_MODEL_FOLDER_WRITER_H_
