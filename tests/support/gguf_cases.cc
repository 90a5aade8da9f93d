#include "support/gguf_cases.h"

#include <cstring>
#include <ostream>
#include <utility>

#include "support/gguf_builder.h"

namespace adit::test {
namespace {

std::vector<std::byte> Zeros(size_t num_bytes) { return std::vector<std::byte>(num_bytes); }

std::vector<std::byte> Bytes(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// Little-endian fields one after another.
template <typename... Fields>
std::vector<std::byte> Pack(Fields... fields) {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](auto field) {
    const auto* begin = reinterpret_cast<const std::byte*>(&field);
    bytes.insert(bytes.end(), begin, begin + sizeof(field));
  };
  (append(fields), ...);
  return bytes;
}

std::vector<std::byte> Cut(std::vector<std::byte> bytes, size_t num_bytes) {
  bytes.resize(num_bytes);
  return bytes;
}

GgufBuilder Llama() { return GgufBuilder().AddString("general.architecture", "llama"); }

constexpr uint32_t kF32 = 0;
constexpr uint32_t kI8 = 24;
constexpr uint32_t kU8Value = 0;
constexpr uint32_t kU64Value = 10;
constexpr uint32_t kBoolValue = 7;
constexpr uint32_t kStringValue = 8;

// 64 bytes of data and one F32 tensor `x` of the dimensions as the file lists them.
std::vector<std::byte> OneTensor(std::vector<uint64_t> dims, uint32_t type = kF32) {
  return Llama().AddRawTensor({.name = "x", .dims = std::move(dims), .type = type, .bytes = Zeros(64)}).Build();
}

// Where the tensor table of OneTensor({16}) ends: counts, one pair, one entry.
constexpr size_t kOneTensorTableEnd = 24 + (8 + 20 + 4 + 8 + 5) + (8 + 1 + 4 + 8 + 4 + 8);

std::vector<std::byte> NamedTensor(std::string name) {
  return Llama().AddRawTensor({.name = std::move(name), .dims = {16}, .bytes = Zeros(64)}).Build();
}

std::vector<std::byte> Pair(uint32_t type, const std::vector<std::byte>& value) {
  return GgufBuilder().AddRawPair("the.key", type, value).Build();
}

std::vector<std::byte> ArrayPair(uint32_t element_type, uint64_t count, std::vector<std::byte> elements) {
  std::vector<std::byte> value = Pack(element_type, count);
  value.insert(value.end(), elements.begin(), elements.end());
  return Pair(kGgufArrayNumber, value);
}

GgufCase Valid(std::string name, std::vector<std::byte> bytes) {
  return {.name = std::move(name), .bytes = std::move(bytes), .code = StatusCode::kOk, .message = {}};
}

std::vector<std::byte> EveryValueType() {
  return GgufBuilder()
      .Add<uint8_t>("u8", 200)
      .Add<int8_t>("i8", -100)
      .Add<uint16_t>("u16", 60000)
      .Add<int16_t>("i16", -30000)
      .Add<uint32_t>("u32", 4000000000)
      .Add<int32_t>("i32", -2000000000)
      .Add<float>("f32", 0.5f)
      .Add<bool>("bool", true)
      .AddString("string", "text")
      .Add<uint64_t>("u64", 18446744073709551615u)
      .Add<int64_t>("i64", -9000000000000000000)
      .Add<double>("f64", 0.1)
      .AddArray<uint8_t>("u8s", {1, 2})
      .AddArray<int8_t>("i8s", {-1, 2})
      .AddArray<uint16_t>("u16s", {1, 60000})
      .AddArray<int16_t>("i16s", {-1, 2})
      .AddArray<uint32_t>("u32s", {1, 4000000000})
      .AddArray<int32_t>("i32s", {-1, 2})
      .AddArray<float>("f32s", {0.25f, -1.0f})
      .AddArray<bool>("bools", {true, false, true})
      .AddArray<std::string>("strings", {"a", "", "\xff\xfe"})
      .AddArray<uint64_t>("u64s", {1, 18446744073709551615u})
      .AddArray<int64_t>("i64s", {-1, 2})
      .AddArray<double>("f64s", {0.1, 1e300})
      .AddArray<int32_t>("empty", {})
      .Build();
}

std::vector<std::byte> EveryTensorType() {
  GgufBuilder builder = Llama();
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (GgmlNumberOf(dtype) == kNoGgmlNumber) continue;
    const int64_t cols = Traits(dtype).block_elements;
    builder.AddTensor(Traits(dtype).name, dtype, {1, cols}, Zeros(RowBytes(dtype, cols)));
  }
  return builder.Build();
}

std::vector<std::byte> EveryRank() {
  return Llama()
      .AddTensorF32("rank1", {3}, {1, 2, 3})
      .AddTensorF32("rank2", {2, 3}, {1, 2, 3, 4, 5, 6})
      .AddTensorF32("rank3", {2, 1, 3}, {1, 2, 3, 4, 5, 6})
      .AddTensorF32("rank4", {1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})
      .Build();
}

std::vector<std::byte> Version2() {
  GgufBuilder builder = Llama();
  builder.version = 2;
  return builder.AddTensorF32("x", {2}, {1, 2}).Build();
}

std::vector<std::byte> WideAlignment() {
  GgufBuilder builder = Llama();
  builder.alignment = 256;
  builder.Add<uint32_t>("general.alignment", 256);
  return builder.AddTensorF32("x", {2}, {1, 2}).AddTensorF32("y", {2}, {3, 4}).Build();
}

// The table need not be in the order of the data.
std::vector<std::byte> ShuffledOffsets() {
  return Llama()
      .AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(32), .offset = 32})
      .AddRawTensor({.name = "y", .dims = {8}, .bytes = Zeros(32), .offset = 0})
      .Build();
}

std::vector<std::byte> WithMagic(std::string magic) {
  GgufBuilder builder = Llama();
  builder.magic = std::move(magic);
  return builder.Build();
}

std::vector<std::byte> WithVersion(uint32_t version) {
  GgufBuilder builder = Llama();
  builder.version = version;
  return builder.Build();
}

std::vector<std::byte> WithCounts(uint64_t num_tensors, uint64_t num_pairs) {
  GgufBuilder builder = Llama();
  builder.num_tensors = num_tensors;
  builder.num_pairs = num_pairs;
  return builder.Build();
}

std::vector<std::byte> WithAlignment(uint32_t alignment) {
  return Llama().Add<uint32_t>("general.alignment", alignment).AddTensorF32("x", {8}, std::vector<float>(8)).Build();
}

}  // namespace

void PrintTo(const GgufCase& gguf_case, std::ostream* out) { *out << gguf_case.name; }

std::vector<GgufCase> ValidGgufCases() {
  return {
      Valid("one_tensor", OneTensor({16})),
      Valid("every_value_type", EveryValueType()),
      Valid("every_tensor_type", EveryTensorType()),
      Valid("every_rank", EveryRank()),
      Valid("version_2", Version2()),
      Valid("wide_alignment", WideAlignment()),
      Valid("shuffled_offsets", ShuffledOffsets()),
      Valid("no_tensors", Llama().Build()),
      Valid("nothing_at_all", Cut(GgufBuilder().Build(), 24)),
      Valid("one_file_of_one", Llama().Add<uint16_t>("split.count", 1).Build()),
  };
}

std::vector<GgufCase> BrokenGgufHeaderCases() {
  const uint64_t huge = uint64_t{1} << 63;
  return {
      {"no_bytes", {}, StatusCode::kCorrupt, {"magic", "byte 0", "end of the file at 0"}},
      {"other_magic", WithMagic("GGUX"), StatusCode::kCorrupt, {"'GGUX'", "wanted 'GGUF'"}},
      {"binary_magic", WithMagic("\x7f\x01GG"), StatusCode::kCorrupt, {"'\\x7f\\x01GG'"}},
      {"old_ggml", WithMagic("tjgg"), StatusCode::kUnsupported, {"before GGUF"}},
      {"lfs_pointer",
       Bytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"),
       StatusCode::kCorrupt,
       {"Git LFS pointer"}},
      {"no_version", Cut(Llama().Build(), 6), StatusCode::kCorrupt, {"version", "byte 4", "end of the file at 6"}},
      {"version_0", WithVersion(0), StatusCode::kUnsupported, {"version 0", "reads 2 and 3"}},
      {"version_1", WithVersion(1), StatusCode::kUnsupported, {"version 1", "reads 2 and 3"}},
      {"version_4", WithVersion(4), StatusCode::kUnsupported, {"version 4", "reads 2 and 3"}},
      {"big_endian", WithVersion(0x03000000), StatusCode::kUnsupported, {"big-endian", "version 3"}},
      {"no_counts", Cut(Llama().Build(), 20), StatusCode::kCorrupt, {"counts", "end of the file at 20"}},
      {"tensor_count_2_63",
       WithCounts(huge, 1),
       StatusCode::kResourceExhausted,
       {"9223372036854775808 tensors", "limit is 65536"}},
      {"pair_count_2_63",
       WithCounts(0, huge),
       StatusCode::kResourceExhausted,
       {"9223372036854775808 key-value pairs", "limit is 65536"}},
      {"tensor_count_past_end", WithCounts(50000, 1), StatusCode::kCorrupt, {"50000 tensors", "end of the file"}},
      {"pair_count_past_end", WithCounts(0, 50000), StatusCode::kCorrupt, {"50000 key-value pairs", "end of the file"}},
      {"pair_count_one_too_many", WithCounts(0, 2), StatusCode::kCorrupt, {"key 1", "length 0"}},
      {"split", Llama().Add<uint16_t>("split.count", 3).Build(), StatusCode::kUnsupported, {"one of 3 files", "split"}},
      {"split_of_wrong_type",
       Llama().AddString("split.count", "3").Build(),
       StatusCode::kCorrupt,
       {"'split.count'", "STRING", "integer"}},
      {"alignment_0", WithAlignment(0), StatusCode::kCorrupt, {"'general.alignment' is 0", "power of two"}},
      {"alignment_24", WithAlignment(24), StatusCode::kCorrupt, {"'general.alignment' is 24", "power of two"}},
      {"alignment_2_31", WithAlignment(0x80000000), StatusCode::kCorrupt, {"is 2147483648", "to 2097152"}},
      {"alignment_of_wrong_type",
       Llama().AddString("general.alignment", "32").AddTensorF32("x", {1}, {0}).Build(),
       StatusCode::kCorrupt,
       {"'general.alignment'", "STRING", "integer"}},
  };
}

std::vector<GgufCase> BrokenGgufPairCases() {
  const uint64_t past_end = 1000;
  const uint64_t wraps_as_u64s = uint64_t{1} << 61;  // times 8 bytes is 0
  return {
      {"key_past_end",
       GgufBuilder().AddRawPair(std::string(70000, 'k'), 0, {}).Build(),
       StatusCode::kCorrupt,
       {"key 0", "length 70000", "1 to 65535"}},
      {"key_empty", GgufBuilder().Add<uint8_t>("", 1).Build(), StatusCode::kCorrupt, {"length 0", "1 to 65535"}},
      {"key_not_ascii",
       GgufBuilder().Add<uint8_t>("k\xc3\xa9y\n", 1).Build(),
       StatusCode::kCorrupt,
       {"'k\\xc3\\xa9y\\x0a'", "printable ASCII"}},
      {"key_twice",
       GgufBuilder().Add<uint8_t>("the.key", 1).Add<uint8_t>("the.key", 1).Build(),
       StatusCode::kCorrupt,
       {"'the.key'", "twice"}},
      {"type_13", Pair(13, Zeros(8)), StatusCode::kCorrupt, {"'the.key'", "type 13", "0 to 12"}},
      {"type_max", Pair(0xffffffff, Zeros(8)), StatusCode::kCorrupt, {"'the.key'", "type 4294967295", "0 to 12"}},
      {"value_missing", Cut(Pair(kU64Value, {}), 24 + 8 + 7 + 4 + 7), StatusCode::kCorrupt, {"'the.key'", "value"}},
      {"bool_2", Pair(kBoolValue, Pack(uint8_t{2})), StatusCode::kCorrupt, {"'the.key'", "byte 2", "0 or 1"}},
      {"bools_2",
       ArrayPair(kBoolValue, 3, Pack(uint8_t{1}, uint8_t{0}, uint8_t{255})),
       StatusCode::kCorrupt,
       {"'the.key'", "byte 255", "0 or 1"}},
      {"string_past_end", Pair(kStringValue, Pack(past_end)), StatusCode::kCorrupt, {"'the.key'", "string"}},
      {"string_2_64",
       Pair(kStringValue, Pack(~uint64_t{0}, uint64_t{0})),
       StatusCode::kCorrupt,
       {"'the.key'", "string"}},
      {"array_of_arrays",
       ArrayPair(kGgufArrayNumber, 1, Pack(kU8Value, uint64_t{1}, uint8_t{1})),
       StatusCode::kUnsupported,
       {"'the.key'", "arrays of arrays"}},
      {"array_of_type_99", ArrayPair(99, 1, Zeros(8)), StatusCode::kCorrupt, {"'the.key'", "element type 99"}},
      {"array_past_end",
       ArrayPair(kU8Value, past_end, Zeros(8)),
       StatusCode::kCorrupt,
       {"'the.key'", "1000 elements", "end of the file"}},
      {"array_wraps",
       ArrayPair(kU64Value, wraps_as_u64s, Zeros(8)),
       StatusCode::kCorrupt,
       {"'the.key'", "2305843009213693952 elements", "end of the file"}},
      {"strings_past_end",
       ArrayPair(kStringValue, uint64_t{1} << 60, Zeros(8)),
       StatusCode::kCorrupt,
       {"'the.key'", "1152921504606846976 elements"}},
      {"string_in_array_past_end",
       ArrayPair(kStringValue, 2, Pack(uint64_t{1}, 'a', past_end)),
       StatusCode::kCorrupt,
       {"'the.key'", "element 1 of 2"}},
      {"array_header_missing",
       Cut(ArrayPair(kU8Value, 0, {}), 24 + 8 + 7 + 4 + 6),
       StatusCode::kCorrupt,
       {"'the.key'", "array header"}},
  };
}

std::vector<GgufCase> BrokenGgufTensorCases() {
  const uint64_t one = 1;
  const auto x = [](std::string part) { return std::vector<std::string>{"tensor 'x'", std::move(part)}; };
  return {
      {"product_2_64", OneTensor({one << 62, 4}), StatusCode::kCorrupt, x("more than 2^63 - 1 elements")},
      {"product_negative", OneTensor({(one << 63) - 1, 2}, kI8), StatusCode::kCorrupt, x("more than 2^63 - 1")},
      {"product_of_2_32", OneTensor({one << 32, one << 32}), StatusCode::kCorrupt, x("more than 2^63 - 1")},
      {"padding_wraps",
       Llama()
           .AddRawTensor({.name = "x", .dims = {(one << 62) - 1}, .bytes = {}})
           .AddRawTensor({.name = "y", .dims = {8}, .bytes = Zeros(64)})
           .Build(),
       StatusCode::kCorrupt, x("18446744073709551612 bytes exceeds the 64 bytes")},
      {"bytes_wrap", OneTensor({one << 62}), StatusCode::kCorrupt, x("more than 2^64 bytes")},
      {"dimension_0", OneTensor({1, 0}), StatusCode::kCorrupt, x("dimension 1 is 0")},
      {"dimension_2_63", OneTensor({one << 63}), StatusCode::kCorrupt, x("dimension 0 of 9223372036854775808")},
      {"rank_0", OneTensor({}), StatusCode::kCorrupt, x("0 dimensions, wanted 1 to 4")},
      {"rank_5", OneTensor({1, 1, 1, 1, 1}), StatusCode::kCorrupt, x("5 dimensions, wanted 1 to 4")},
      {"rank_max", Llama().AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(64), .num_dims = 0xffffffff}).Build(),
       StatusCode::kCorrupt, x("4294967295 dimensions, wanted 1 to 4")},
      {"rows_2_42", OneTensor({16, (one << 42) + 1}), StatusCode::kCorrupt, x("exceeds the 64 bytes")},
      {"offset_4", Llama().AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(64), .offset = 4}).Build(),
       StatusCode::kCorrupt, x("offset 4 is not a multiple of the alignment 32")},
      {"one_byte_past_end", Llama().AddRawTensor({.name = "x", .dims = {16}, .bytes = Zeros(63)}).Build(),
       StatusCode::kCorrupt, x("offset 0 + 64 bytes exceeds the 63 bytes")},
      {"offset_past_end", Llama().AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(64), .offset = 96}).Build(),
       StatusCode::kCorrupt, x("offset 96 + 32 bytes exceeds the 64 bytes")},
      {"offset_wraps",
       Llama().AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(64), .offset = ~uint64_t{31}}).Build(),
       StatusCode::kCorrupt, x("18446744073709551584 + 32 bytes exceeds")},
      {"same_offset",
       Llama()
           .AddRawTensor({.name = "y", .dims = {8}, .bytes = Zeros(64), .offset = 0})
           .AddRawTensor({.name = "x", .dims = {8}, .bytes = {}, .offset = 0})
           .Build(),
       StatusCode::kCorrupt,
       {"'x'", "'y'", "overlaps"}},
      {"overlap",
       Llama()
           .AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(64), .offset = 32})
           .AddRawTensor({.name = "y", .dims = {9}, .bytes = {}, .offset = 0})
           .Build(),
       StatusCode::kCorrupt,
       {"'x'", "'y'", "overlaps"}},
      {"same_name",
       Llama()
           .AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(32)})
           .AddRawTensor({.name = "x", .dims = {8}, .bytes = Zeros(32)})
           .Build(),
       StatusCode::kCorrupt, x("occurs twice")},
      {"name_empty", NamedTensor(""), StatusCode::kCorrupt, {"name '' of tensor 0", "0 bytes", "1 to 64"}},
      {"name_65_bytes", NamedTensor(std::string(65, 'n')), StatusCode::kCorrupt, {"65 bytes", "1 to 64"}},
      {"name_control", NamedTensor("x\x1b[2J"), StatusCode::kCorrupt, {"'x\\x1b[2J'", "printable ASCII"}},
      {"type_q8_k", OneTensor({256}, 15), StatusCode::kUnsupported, x("type Q8_K (15) is not supported")},
      {"type_dropped", OneTensor({16}, 31), StatusCode::kUnsupported, x("type Q4_0_4_4 (31) is not supported")},
      {"type_unknown", OneTensor({16}, 9999), StatusCode::kUnsupported, x("unknown type 9999")},
      {"half_a_block", OneTensor({48}, 2), StatusCode::kCorrupt, x("rows of 48 elements, wanted a multiple of 32")},
      {"half_a_super_block", OneTensor({128, 2}, 12), StatusCode::kCorrupt,
       x("wanted a multiple of 256 for type Q4_K")},
      {"no_data_section",
       Cut(OneTensor({16}), kOneTensorTableEnd),
       StatusCode::kCorrupt,
       {"data of 1 tensors would start at byte 128", "ends at 102"}},
      {"table_cut",
       Cut(OneTensor({16}), kOneTensorTableEnd - 1),
       StatusCode::kCorrupt,
       {"1 tensors", "end of the file at 101"}},
  };
}

}  // namespace adit::test
