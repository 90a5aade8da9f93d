#ifndef ADIT_SERVER_FIM_FORMAT_H_
#define ADIT_SERVER_FIM_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace adit::server {

// How a model is asked to fill a gap: control tokens around what is in front of it and what is behind it.
struct FimFormat {
  std::string prefix;
  std::string suffix;
  std::string middle;
  // In front of the name of a repository and of each of its files; empty: the model has no such token.
  std::string repository;
  std::string file;
  std::vector<int32_t> stop_ids;  // that end a filled gap
};

// What a gap is to be filled by.
struct FimGap {
  std::string before;
  std::string behind;
  std::string begun;                                       // what the filling begins with
  std::vector<std::pair<std::string, std::string>> extra;  // names and texts of other files
};

// That of a vocabulary which has such tokens.
std::optional<FimFormat> FindFimFormat(const tokenizer::Tokenizer& tokenizer);

// The prompt. Control tokens are read from the format alone, never from texts. Precondition: no extra where the format
// has no file.
std::vector<int32_t> EncodeGap(const tokenizer::Tokenizer& tokenizer, const FimFormat& format, const FimGap& gap);

}  // namespace adit::server

#endif  // ADIT_SERVER_FIM_FORMAT_H_
