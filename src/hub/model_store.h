#ifndef ADIT_HUB_MODEL_STORE_H_
#define ADIT_HUB_MODEL_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "hub/model_ref.h"

namespace adit::hub {

struct StoredFile {
  std::string path;  // below the folder of its commit
  int64_t size_bytes = 0;
};

// A model of the store.
struct StoredModel {
  ModelRef ref;        // its revision is the one that was asked for
  std::string commit;  // of 40 digits
  std::string open;    // the file that is opened as the model, below its folder; empty: the folder
  std::vector<StoredFile> files;
  int64_t pulled_s = 0;  // since the epoch

  // "org/name:quant".
  std::string name() const;
  int64_t size_bytes() const;
};

// A folder of models that were fetched, FOLDER/org/name/COMMIT/..., with a description of each commit beside its
// folder, and other names for them. Other processes may change it at any time: each call reads it anew. Any thread.
class ModelStore {
 public:
  explicit ModelStore(std::string folder) : folder_(std::move(folder)) {}
  // Where ADIT_MODELS says, else in the user's cache. FailedPrecondition when there is no such place.
  static Result<ModelStore> OfUser();

  const std::string& folder() const { return folder_; }

  // All, by name and age, the newest first. None when there is no folder.
  Result<std::vector<StoredModel>> List() const;
  // Other names: of models of the store, or of files elsewhere, which are absolute paths.
  Result<std::map<std::string, std::string>> Aliases() const;

  // The model of that name: another name, "org/name[:quant][@revision]", or "name[:quant]" where that is of one
  // organisation alone. The newest where several fit. NotFound, with what there is.
  Result<StoredModel> Find(const std::string& name) const;
  // Where it is opened.
  std::string PathOf(const StoredModel& model) const;
  // The path to open for a name, which may also be another name of a file elsewhere.
  Result<std::string> Resolve(const std::string& name) const;

  std::string FolderOf(const std::string& repository, const std::string& commit) const;
  // Puts down that a model is there, in the place of one with the same quantisation.
  Status Add(const StoredModel& model) const;
  // Takes away a model with the files that no other needs, or one other name. Gives the bytes that are free then.
  Result<int64_t> Remove(const std::string& name) const;
  // Gives a model, or a file elsewhere, another name. InvalidArgument for a name that is none.
  Status SetAlias(const std::string& alias, const std::string& target) const;

 private:
  std::string DescriptionPath(const std::string& repository, const std::string& commit) const;
  Result<std::vector<StoredModel>> ReadDescription(const std::string& path) const;
  Status WriteDescription(const std::string& repository, const std::string& commit,
                          const std::vector<StoredModel>& models) const;
  Status WriteAliases(const std::map<std::string, std::string>& aliases) const;
  // What was begun of a repository and never ended.
  Result<int64_t> RemoveUnfinished(const std::string& repository) const;

  std::string folder_;
};

}  // namespace adit::hub

#endif  // ADIT_HUB_MODEL_STORE_H_
