// Helpers around instructions of tiles: what describes matrices in shared memory, what keeps the compiler
// from moving results, and synchronisations between roles (PTX ISA, "Asynchronous warpgroup level matrix",
// "bar", "setmaxnreg").

#include "codegen/cuda/prelude_helpers.h"

namespace calotype::cuda {

const std::vector<Helper>& tile_helpers() {
  static const std::vector<Helper> all = {
      // Pieces of 16 bytes are counted from the beginning of the memory: what does not depend on them is one
      // constant, which is computed once.
      {"matrix_at",
       {"shared_address"},
       "template <int swizzle, int leading, int stride>\n"
       "@ unsigned long long matrix_at(const void* memory, int piece) {\n"
       "  const unsigned long long mode = swizzle == 0 ? 0 : swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;\n"
       "  const unsigned long long layout = mode << 62 | (unsigned long long)(stride / 16) << 32;\n"
       "  const unsigned int begin = (shared_address(memory) & 0x3ffffu) >> 4;\n"
       "  return layout | ((leading / 16 << 16) + begin + piece);\n"
       "}\n"},
      // To the compiler a product is done where it stands, so it may use a result, or write to a register
      // that is still read, before the wait. What it has computed of these registers stays on its side of
      // this point.
      {"pin_word_float",
       {},
       "@ void pin_word(float& word) { asm volatile(\"\" : \"+f\"(word) :: \"memory\"); }\n"},
      {"pin_word_int",
       {},
       "@ void pin_word(int& word) { asm volatile(\"\" : \"+r\"(word) :: \"memory\"); }\n"},
      {"pin_word_unsigned int",
       {},
       "@ void pin_word(unsigned int& word) { asm volatile(\"\" : \"+r\"(word) :: \"memory\"); }\n"},
      {"pin",
       {},
       "template <class T, int words>\n"
       "@ void pin(T (&registers)[words]) {\n"
       "  #pragma unroll\n"
       "  for (int i = 0; i < words; ++i) pin_word(registers[i]);\n"
       "}\n"},
      {"fence_products",
       {},
       "@ void fence_products() { asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\"); }\n"},
      {"commit_products",
       {},
       "@ void commit_products() { asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\"); }\n"},
      {"wait_products",
       {},
       "template <int pending>\n"
       "@ void wait_products() {\n"
       "  asm volatile(\"wgmma.wait_group.sync.aligned %0;\" ::\"n\"(pending) : \"memory\");\n"
       "}\n"},
      {"meet",
       {},
       "template <int barrier, int threads>\n"
       "@ void meet() { asm volatile(\"bar.sync %0, %1;\" ::\"n\"(barrier), \"n\"(threads) : \"memory\"); "
       "}\n"},
      {"come",
       {},
       "template <int barrier, int threads>\n"
       "@ void come() { asm volatile(\"bar.arrive %0, %1;\" ::\"n\"(barrier), \"n\"(threads) : \"memory\"); "
       "}\n"},
      {"take_registers",
       {},
       "template <int number>\n"
       "@ void take_registers() { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 %0;\" ::\"n\"(number)); "
       "}\n"},
      {"give_registers",
       {},
       "template <int number>\n"
       "@ void give_registers() { asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" ::\"n\"(number)); "
       "}\n"},
  };
  return all;
}

}  // namespace calotype::cuda
