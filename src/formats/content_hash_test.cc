#include "formats/content_hash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace adit::formats {
namespace {

// A matrix and a vector.
class TwoTensors : public WeightSource {
 public:
  TwoTensors() {
    matrix_.resize(64);
    vector_ = {1.0f, 2.0f, 3.0f, 4.0f};
    Name("blk.0.ffn_up.weight");
  }
  void Name(std::string name) {
    name_ = std::move(name);
    tensors_ = {{.name = name_, .rank = 2, .shape = {4, 16, 1, 1}, .data = std::as_bytes(std::span(matrix_))},
                {.name = "norm", .rank = 1, .shape = {4, 1, 1, 1}, .data = std::as_bytes(std::span(vector_))}};
  }

  const TensorInfo* Find(std::string_view) const override { return nullptr; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return name_; }
  void Release(std::span<const std::byte>) const override {}
  void ReadRows(const TensorInfo&, int64_t, int64_t, std::byte*) const override {}

  std::vector<float> matrix_;
  std::vector<float> vector_;
  std::string name_;
  std::vector<TensorInfo> tensors_;
};

TEST(ContentHash, HangsOnNamesTypesShapesAndVectors) {
  TwoTensors model;
  const uint64_t hash = ContentHash(model);
  EXPECT_EQ(ContentHash(TwoTensors()), hash);
  model.Name("blk.1.ffn_up.weight");
  EXPECT_NE(ContentHash(model), hash);
  model.Name("blk.0.ffn_up.weight");
  EXPECT_EQ(ContentHash(model), hash);

  model.tensors_[0].dtype = DType::kF16;
  EXPECT_NE(ContentHash(model), hash);
  model.tensors_[0].dtype = DType::kF32;
  model.tensors_[0].shape = {16, 4, 1, 1};
  EXPECT_NE(ContentHash(model), hash);
  model.tensors_[0].shape = {4, 16, 1, 1};

  model.vector_[2] = 3.5f;
  EXPECT_NE(ContentHash(model), hash);
  model.vector_[2] = 3.0f;
  EXPECT_EQ(ContentHash(model), hash);
}

TEST(ContentHash, ReadsNoMatrix) {
  TwoTensors model;
  const uint64_t hash = ContentHash(model);
  model.matrix_[5] = 1.0f;
  EXPECT_EQ(ContentHash(model), hash);
}

}  // namespace
}  // namespace adit::formats
