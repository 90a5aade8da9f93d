#ifndef ADIT_CLI_TRANSFER_RATE_H_
#define ADIT_CLI_TRANSFER_RATE_H_

#include <cstdint>
#include <deque>
#include <string>

namespace adit::cli {

// How fast bytes come, over the last seconds, so that it follows what a line gives now.
class TransferRate {
 public:
  // So many bytes are there at a time of the steady clock. Times and bytes do not go back.
  void Add(double now_s, int64_t done_bytes);
  // 0 while nothing is known.
  double bytes_per_s() const;

 private:
  struct Sample {
    double at_s;
    int64_t bytes;
  };
  std::deque<Sample> samples_;  // of the last seconds, and the one before them
};

// "12.3 MiB of 98.0 MiB, 4.1 MiB/s, 0:21 left".
std::string TransferText(int64_t done_bytes, int64_t total_bytes, double bytes_per_s);

}  // namespace adit::cli

#endif  // ADIT_CLI_TRANSFER_RATE_H_
