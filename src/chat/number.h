#ifndef ADIT_CHAT_NUMBER_H_
#define ADIT_CHAT_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Numbers as Python writes, reads and rounds them.
namespace adit::chat {

// The shortest text that reads back as `value`: 1.0, 1e+20, 0.30000000000000004, inf, nan.
std::string FloatRepr(double value);

// The decimal digits of a finite value in scientific notation: value = 0.d1d2d3... * 10^point, digits without zeros at
// the end; sign apart. The shortest digits that read back as `value`.
struct DecimalDigits {
  std::string digits;
  int point = 0;
};
DecimalDigits ShortestDigits(double value);

// int(text, base) and float(text): white space around, underscores between digits, digits of any script. Empty where
// Python raises ValueError. ParseInt sets *overflow, and returns empty, where the number does not fit 64 bits.
std::optional<int64_t> ParseInt(std::string_view text, int base, bool* overflow);
std::optional<double> ParseFloat(std::string_view text);

// round(value, digits): to the nearest decimal, ties to even.
double RoundFloat(double value, int64_t digits);

// Empty on overflow of 64 bits.
std::optional<int64_t> AddInt(int64_t left, int64_t right);
std::optional<int64_t> SubtractInt(int64_t left, int64_t right);
std::optional<int64_t> MultiplyInt(int64_t left, int64_t right);
std::optional<int64_t> PowerInt(int64_t base, int64_t exponent);  // exponent >= 0

// Division that rounds down, and what it leaves, with the sign of the divisor. Precondition: right is not 0.
std::optional<int64_t> FloorDivideInt(int64_t left, int64_t right);
int64_t ModuloInt(int64_t left, int64_t right);
double FloorDivideFloat(double left, double right);
double ModuloFloat(double left, double right);

// int(value) of a finite float; empty where it does not fit 64 bits.
std::optional<int64_t> TruncateFloat(double value);

// -1, 0, 1: how the two compare exactly; 2 where `right` is not a number.
int CompareIntFloat(int64_t left, double right);

}  // namespace adit::chat

#endif  // ADIT_CHAT_NUMBER_H_
