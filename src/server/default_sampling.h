#ifndef ADIT_SERVER_DEFAULT_SAMPLING_H_
#define ADIT_SERVER_DEFAULT_SAMPLING_H_

#include <string_view>

#include "adit/sampling_params.h"
#include "adit/status.h"

namespace adit::server {

// Puts what a list such as "temperature=0.7,top_p=0.9" says into `params`: fields of requests, with numbers as values.
// InvalidArgument, with the name, for one that is not known, is no number or is out of range.
Status ApplyDefaultSampling(std::string_view list, SamplingParams& params);

}  // namespace adit::server

#endif  // ADIT_SERVER_DEFAULT_SAMPLING_H_
