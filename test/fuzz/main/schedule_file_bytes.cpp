// libFuzzer's entry: schedule files.
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calotype::fuzz::try_schedule_file(data, size);
  return 0;
}
