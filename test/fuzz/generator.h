#pragma once
// What the parts of the program generator share: the program so far, and what is known of its Funcs.

#include <string>
#include <vector>

#include "fuzz/program.h"
#include "fuzz/random.h"
#include "fuzz/values.h"

namespace calotype::fuzz {

/// An input or Func that later Funcs may read.
struct Known {
  std::string name;
  Type type;
  int rank;
  double low, high;
  bool whole;
  int cost;  ///< reads in its value if everything that can be is inlined
  bool read = false;
  bool table = false;  ///< it depends on no input
};

/// A coordinate that an expression may use.
struct Coordinate {
  std::string name;
  int dim;  ///< it runs over about the sizes of this dimension
};

struct Generator {
  explicit Generator(Random& random) : random(random) {}

  Random& random;
  Program program;
  std::vector<Known> known;
  bool real = false;       ///< the program has other than whole numbers
  bool functions = false;  ///< functions may compute Funcs

  /// The Dim that output dimension `d` has.
  static Node dim(int d) { return Node(std::string(1, "WHC"[d])); }
  Type any_type();
};

/// The value of a definition while it is made.
class ValueMaker {
 public:
  ValueMaker(Generator& g, std::vector<Coordinate> coordinates)
      : g_(g), coordinates_(std::move(coordinates)) {}

  /// An expression of the type.
  Value any(Type type, int depth);
  /// Several reads of one source at neighbouring points, weighed and added, or their least or greatest.
  Value stencil(Type type);
  Value condition();
  /// Reads something, in its own type.
  Value read();
  int cost() const { return cost_; }

 private:
  Known* choose_source();
  Value leaf(Type type);
  /// A coordinate modulo something.
  Value remainder();
  Value read(Known& source, const std::vector<Node>& at);
  std::vector<Node> place(const Known& source);
  Node coordinate(int d);
  Node in_range();

  Generator& g_;
  std::vector<Coordinate> coordinates_;
  int cost_ = 0;
  bool nested_ = false;  ///< inside a coordinate that depends on data
};

/// Adds an input, with a boundary condition or read as it is.
void add_input(Generator& g, int index);
/// Adds a boundary condition on an input or Func.
void add_boundary(Generator& g, const std::string& source, Type type, int rank, bool of_func);
/// Adds a Func of any kind.
void add_func(Generator& g, int index);
/// The same of one that reads no input, but perhaps another such Func.
void add_table(Generator& g, int index);
/// Moves the reads of inputs without boundary conditions to coordinates from 0, and gives these inputs just
/// the extents that the calls need.
void fit_inputs(Program& program);

}  // namespace calotype::fuzz
