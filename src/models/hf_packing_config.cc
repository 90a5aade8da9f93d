// What config.json says of how the matrices of a checkpoint are held.
#include <string>
#include <utility>

#include "models/hf_packing.h"

namespace adit::models {
namespace {

using formats::Json;
using PackingMethod = HfQuantization::Method;

Json Word(const char* text) { return Json(std::string(text)); }

Json Names(std::span<const std::string> names) {
  Json::Array list;
  for (const std::string& name : names) list.push_back(Json(name));
  return Json(std::move(list));
}

Json GptqConfig(const HfPacking& packing) {
  const HfQuantization& quantization = packing.quantization;
  return Json(Json::Object{
      {"quant_method", Word("gptq")},
      {"checkpoint_format", Word(quantization.zeros_less_one ? "gptq" : "gptq_v2")},
      {"bits", Json(int64_t{quantization.bits})},
      {"group_size", Json(quantization.group_size > 0 ? quantization.group_size : int64_t{-1})},
      {"desc_act", Json(false)},
      {"sym", Json(packing.symmetric)},
      {"damp_percent", Json(0.01)},
      {"static_groups", Json(false)},
      {"true_sequential", Json(false)},
      {"lm_head", Json(false)},
  });
}

Json AwqConfig(const HfPacking& packing, std::span<const std::string> unquantized) {
  const HfQuantization& quantization = packing.quantization;
  return Json(Json::Object{
      {"quant_method", Word("awq")},
      {"version", Word("gemm")},
      {"bits", Json(int64_t{quantization.bits})},
      {"group_size", Json(quantization.group_size > 0 ? quantization.group_size : int64_t{-1})},
      {"zero_point", Json(!packing.symmetric)},
      {"modules_to_not_convert", Names(unquantized)},
  });
}

Json Fp8Config(const HfPacking& packing, std::span<const std::string> unquantized) {
  const HfQuantization& quantization = packing.quantization;
  Json::Object config{
      {"quant_method", Word("fp8")},
      {"fmt", Word(quantization.e5m2 ? "e5m2" : "e4m3")},
      {"activation_scheme", Word("dynamic")},
      {"modules_to_not_convert", Names(unquantized)},
  };
  if (quantization.block_rows > 0) {
    config.emplace_back("weight_block_size",
                        Json(Json::Array{Json(quantization.block_rows), Json(quantization.block_cols)}));
  }
  return Json(std::move(config));
}

// The scheme of compressed-tensors for one kind of operand.
Json Arguments(int bits, const char* type, const char* strategy, int64_t group_size, bool symmetric, bool dynamic) {
  Json::Object object{
      {"num_bits", Json(int64_t{bits})}, {"type", Word(type)},       {"strategy", Word(strategy)},
      {"symmetric", Json(symmetric)},    {"dynamic", Json(dynamic)},
  };
  object.emplace_back("group_size", group_size > 0 ? Json(group_size) : Json());
  return Json(std::move(object));
}

Json CompressedTensorsConfig(const HfPacking& packing, std::span<const std::string> unquantized) {
  const HfQuantization& quantization = packing.quantization;
  const char* format = "pack-quantized";
  Json activations;
  const char* const inputs = packing.static_inputs ? "tensor" : "token";
  const char* type = "int";
  const char* strategy = quantization.group_size > 0 ? "group" : "channel";
  if (quantization.method == PackingMethod::kInt8) {
    format = "int-quantized";
    activations = Arguments(8, "int", inputs, 0, /*symmetric=*/true, !packing.static_inputs);
  } else if (quantization.method == PackingMethod::kFp8) {
    format = "float-quantized";
    type = "float";
    strategy = packing.scale_per_tensor ? "tensor" : "channel";
    activations = Arguments(8, "float", inputs, 0, /*symmetric=*/true, !packing.static_inputs);
  }
  Json::Object group{
      {"targets", Json(Json::Array{Word("Linear")})},
      {"weights",
       Arguments(quantization.bits, type, strategy, quantization.group_size, packing.symmetric, /*dynamic=*/false)},
      {"input_activations", std::move(activations)},
      {"output_activations", Json()},
  };
  return Json(Json::Object{
      {"quant_method", Word("compressed-tensors")},
      {"format", Word(format)},
      {"quantization_status", Word("compressed")},
      {"config_groups", Json(Json::Object{{"group_0", Json(std::move(group))}})},
      {"ignore", Names(unquantized)},
      {"kv_cache_scheme", Json()},
  });
}

}  // namespace

Json HfQuantizationConfig(const HfPacking& packing, std::span<const std::string> unquantized) {
  switch (packing.quantization.method) {
    case PackingMethod::kGptq:
      return GptqConfig(packing);
    case PackingMethod::kAwq:
      return AwqConfig(packing, unquantized);
    case PackingMethod::kFp8:
      // Numbers of compressed-tensors are E4M3.
      if (packing.quantization.block_rows > 0 || packing.quantization.e5m2) return Fp8Config(packing, unquantized);
      break;
    default:
      break;
  }
  return CompressedTensorsConfig(packing, unquantized);
}

}  // namespace adit::models
