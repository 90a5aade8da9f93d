#include "models/hf_quantization.h"

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::models {
namespace {

using formats::JsonFields;
using Method = HfQuantization::Method;

constexpr int64_t kMaxGroup = 1 << 20;

Status Refuse(const JsonFields& fields, std::string_view setting, std::string_view value, std::string_view known) {
  return Unsupported("{}: {} {} is not supported; this build reads {}", fields.where(), setting,
                     formats::Quoted(std::string(value)), known);
}

// The older key is -1 for whole rows.
Result<int64_t> GroupSize(const JsonFields& fields) {
  ADIT_ASSIGN_OR_RETURN(const int64_t size, fields.IntOr("group_size", -1, -1, kMaxGroup));
  if (size > 0 && size % 32 != 0) {
    return Unsupported("{}: group_size {} is not supported; this build reads multiples of 32 and whole rows",
                       fields.where(), size);
  }
  return size > 0 ? size : 0;
}

Result<HfQuantization> ReadGptq(const JsonFields& fields) {
  HfQuantization out{.method = Method::kGptq};
  ADIT_ASSIGN_OR_RETURN(const int64_t bits, fields.Int("bits", 1, 32));
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8) {
    return Refuse(fields, "bits", std::to_string(bits), "2, 3, 4 and 8");
  }
  out.bits = static_cast<int>(bits);
  ADIT_ASSIGN_OR_RETURN(out.group_size, GroupSize(fields));
  ADIT_ASSIGN_OR_RETURN(const std::string format, fields.StringOr("checkpoint_format", "gptq"));
  if (format != "gptq" && format != "gptq_v2") return Refuse(fields, "checkpoint_format", format, "gptq and gptq_v2");
  out.zeros_less_one = format == "gptq";
  return out;
}

Result<HfQuantization> ReadAwq(const JsonFields& fields) {
  HfQuantization out{.method = Method::kAwq};
  ADIT_ASSIGN_OR_RETURN(const int64_t bits, fields.IntOr("bits", 4, 1, 32));
  if (bits != 4) return Refuse(fields, "bits", std::to_string(bits), "4 for AWQ");
  ADIT_ASSIGN_OR_RETURN(out.group_size, GroupSize(fields));
  ADIT_ASSIGN_OR_RETURN(const std::string version, fields.StringOr("version", "gemm"));
  if (version != "gemm" && version != "GEMM") return Refuse(fields, "version", version, "gemm");
  return out;
}

Result<HfQuantization> ReadFp8(const JsonFields& fields) {
  HfQuantization out{.method = Method::kFp8, .bits = 8, .group_size = 0};
  ADIT_ASSIGN_OR_RETURN(const std::string format, fields.StringOr("fmt", "e4m3"));
  if (format != "e4m3" && format != "e5m2") return Refuse(fields, "fmt", format, "e4m3 and e5m2");
  out.e5m2 = format == "e5m2";
  if (!fields.Has("weight_block_size")) return out;
  ADIT_ASSIGN_OR_RETURN(const std::vector<double> size, fields.Floats("weight_block_size", 1.0, 65536.0));
  if (size.size() != 2) {
    return Corrupt("{}: weight_block_size has {} numbers, wanted rows and columns", fields.where(), size.size());
  }
  out.block_rows = static_cast<int64_t>(size[0]);
  out.block_cols = static_cast<int64_t>(size[1]);
  return out;
}

// The first of the groups; checkpoints in which modules differ are refused.
Result<JsonFields> OnlyGroup(const JsonFields& fields) {
  ADIT_ASSIGN_OR_RETURN(const JsonFields groups, fields.Object("config_groups"));
  const formats::Json* object = fields.Find("config_groups");
  if (object->AsObject()->size() != 1) {
    return Unsupported("{}: {} groups of modules; this build reads checkpoints that quantise all modules alike",
                       groups.where(), object->AsObject()->size());
  }
  ADIT_ASSIGN_OR_RETURN(const JsonFields group, groups.Object(object->AsObject()->front().first));
  return group.Object("weights");
}

Result<HfQuantization> ReadCompressedTensors(const JsonFields& fields) {
  ADIT_ASSIGN_OR_RETURN(const std::string format, fields.StringOr("format", "dense"));
  ADIT_ASSIGN_OR_RETURN(const JsonFields weights, OnlyGroup(fields));
  ADIT_ASSIGN_OR_RETURN(const int64_t bits, weights.Int("num_bits", 1, 32));
  ADIT_ASSIGN_OR_RETURN(const std::string strategy, weights.StringOr("strategy", "tensor"));
  HfQuantization out{.bits = static_cast<int>(bits), .group_size = 0};
  if (strategy == "group") {
    ADIT_ASSIGN_OR_RETURN(out.group_size, GroupSize(weights));
  } else if (strategy != "tensor" && strategy != "channel") {
    return Refuse(weights, "strategy", strategy, "tensor, channel and group");
  }
  if (format == "pack-quantized") {
    if (bits != 4 && bits != 8) return Refuse(weights, "num_bits", std::to_string(bits), "4 and 8");
    out.method = Method::kPackedInt;
    return out;
  }
  if (bits != 8) return Refuse(weights, "num_bits", std::to_string(bits), "8 in this format");
  if (format != "int-quantized" && format != "float-quantized" && format != "naive-quantized") {
    return Refuse(fields, "format", format, "pack-quantized, int-quantized, float-quantized and naive-quantized");
  }
  ADIT_ASSIGN_OR_RETURN(const std::string type, weights.StringOr("type", "int"));
  if (type != "int" && type != "float") return Refuse(weights, "type", type, "int and float");
  out.method = type == "int" ? Method::kInt8 : Method::kFp8;
  return out;
}

}  // namespace

Result<std::optional<HfQuantization>> ReadHfQuantization(const JsonFields& config) {
  const char* name = config.Has("quantization_config") ? "quantization_config" : "compression_config";
  if (!config.Has(name)) return std::optional<HfQuantization>();
  ADIT_ASSIGN_OR_RETURN(const JsonFields fields, config.Object(name));
  ADIT_ASSIGN_OR_RETURN(const std::string method, fields.StringOr("quant_method", "unknown"));
  const auto some = [](Result<HfQuantization> read) -> Result<std::optional<HfQuantization>> {
    if (!read.ok()) return read.status();
    return std::optional(*read);
  };
  if (method == "gptq") return some(ReadGptq(fields));
  if (method == "awq") return some(ReadAwq(fields));
  if (method == "fp8") return some(ReadFp8(fields));
  if (method == "compressed-tensors") return some(ReadCompressedTensors(fields));
  return Unsupported(
      "{}: checkpoints quantised by {} are not supported; this build reads those of gptq, awq, fp8 and "
      "compressed-tensors",
      fields.where(), formats::Quoted(method));
}

}  // namespace adit::models
