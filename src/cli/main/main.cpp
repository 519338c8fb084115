// main() of every program that links calotype::cli. A library of its own, so that programs with a main() of
// theirs (tests, benchmarks) can use the rest of the command line.
#include "cli/command.h"

int main(int argc, char** argv) { return calotype::cli::command_line(argc, argv); }
