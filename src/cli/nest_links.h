#pragma once
// Which lines of code came from which lines of a loop tree, found in their texts.

#include <string>
#include <vector>

namespace calotype::cli {

/// A line of the text of a loop tree.
struct NestLine {
  enum class Kind { Produce, Realize, Loop, Body, Other } kind = Kind::Other;
  int depth = 0;     ///< of its indentation
  int parent = -1;   ///< the line that it stands in
  std::string text;  ///< without indentation
  std::string func;  ///< whose storage, loop or definition it is
  std::string name;  ///< of a loop
};

/// The lines of level `memory` or `sync`.
std::vector<NestLine> read_nest(const std::string& text);

/// A line of code with the lines of the nest that it came from: the loops around it, outermost first, and
/// the definition that it carries out or the storage that it allocates.
struct CodeLine {
  std::string text;
  std::vector<int> from;
};

/// Links lowered statements or CUDA C by names of loops and buffers, and in assembly the functions of
/// parallel loops. A loop without a line of its own, as one that was unrolled, gets the lines of what stands
/// inside it.
std::vector<CodeLine> link_code(const std::string& code, const std::vector<NestLine>& nest);

}  // namespace calotype::cli
