#ifndef ADIT_SERVER_SAMPLING_FIELDS_H_
#define ADIT_SERVER_SAMPLING_FIELDS_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "adit/sampling_params.h"
#include "server/api_request.h"
#include "server/json_fields.h"

namespace adit::server {

// The fields of a request that say how tokens are chosen, less the number of log probabilities. What is wrong is left
// in `fields`.
void ReadSampling(FieldReader& fields, const ApiModel& model, SamplingParams& out);

// Those alone that are numbers and need no model, less the seed.
void ReadSamplingNumbers(FieldReader& fields, SamplingParams& out);

// A list of token ids of the vocabulary.
void ReadTokenIds(FieldReader& fields, const nlohmann::json& list, const std::string& param, int64_t vocab_size,
                  std::vector<int32_t>& out);

}  // namespace adit::server

#endif  // ADIT_SERVER_SAMPLING_FIELDS_H_
