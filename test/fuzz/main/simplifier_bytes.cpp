// libFuzzer's entry: the simplifier.
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calotype::fuzz::try_simplifier(data, size);
  return 0;
}
