#ifndef ADIT_TENSOR_BLOCK_CODES_INTERNAL_H_
#define ADIT_TENSOR_BLOCK_CODES_INTERNAL_H_

#include <cstdint>

#include "tensor/int4.h"
#include "tensor/int8.h"
#include "tensor/iq4_nl.h"
#include "tensor/iq4_xs.h"
#include "tensor/q2_k.h"
#include "tensor/q3_k.h"
#include "tensor/q4_0.h"
#include "tensor/q4_1.h"
#include "tensor/q4_k.h"
#include "tensor/q5_0.h"
#include "tensor/q5_1.h"
#include "tensor/q5_k.h"
#include "tensor/q6_k.h"
#include "tensor/q8_0.h"

// Put the codes of a block's elements, 0 to the most that the type has, where the type has them; the scales stay.
namespace adit::encode {

void PutCodes(const uint8_t* codes, BlockQ4_0& block);
void PutCodes(const uint8_t* codes, BlockQ4_1& block);
void PutCodes(const uint8_t* codes, BlockQ5_0& block);
void PutCodes(const uint8_t* codes, BlockQ5_1& block);
void PutCodes(const uint8_t* codes, BlockQ8_0& block);
void PutCodes(const uint8_t* codes, BlockQ2K& block);
void PutCodes(const uint8_t* codes, BlockQ3K& block);
void PutCodes(const uint8_t* codes, BlockQ4K& block);
void PutCodes(const uint8_t* codes, BlockQ5K& block);
void PutCodes(const uint8_t* codes, BlockQ6K& block);
void PutCodes(const uint8_t* codes, BlockIQ4NL& block);
void PutCodes(const uint8_t* codes, BlockIQ4XS& block);
void PutCodes(const uint8_t* codes, BlockInt4& block);
void PutCodes(const uint8_t* codes, BlockInt8& block);

}  // namespace adit::encode

#endif  // ADIT_TENSOR_BLOCK_CODES_INTERNAL_H_
