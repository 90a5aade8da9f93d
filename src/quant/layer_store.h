#ifndef ADIT_QUANT_LAYER_STORE_H_
#define ADIT_QUANT_LAYER_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "adit/status.h"
#include "formats/weight_source.h"
#include "quant/rounded_layer.h"

namespace adit::quant {

// Layers that have been rounded, kept in a folder, so that a run that is stopped can go on. Each is there whole or not
// at all.
class LayerStore {
 public:
  // `run` stands for all that the layers depend on: model, types, method and text. Makes the folder where it is not
  // there. FailedPrecondition when it holds layers of another run; InvalidArgument when it holds anything else; Io when
  // the system refuses.
  static Result<std::unique_ptr<LayerStore>> Open(const std::string& folder, uint64_t run);

  bool Has(size_t layer) const;
  // What was saved, over `model`, which outlives it. Corrupt when it is not of tensors of the model.
  Result<std::unique_ptr<RoundedLayer>> Load(size_t layer, const formats::WeightSource& model) const;
  Status Save(size_t layer, const RoundedLayer& rounded) const;
  // Removes the folder: the run is done.
  void Remove() const;

 private:
  explicit LayerStore(std::string folder) : folder_(std::move(folder)) {}
  std::string PathOf(size_t layer) const;

  std::string folder_;
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_LAYER_STORE_H_
