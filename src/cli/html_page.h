#pragma once
// `show --html`: a page of the loop nest beside the code that it became.

#include <string>
#include <utility>
#include <vector>

namespace calotype::cli {

/// What a page shows, as the levels of `show` print it.
struct PageContents {
  std::string title;                                       ///< "blur3x3 for host"
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, for the head
  std::string loops;                                       ///< the loop tree with its storage
  std::string schedule;                                    ///< the directives
  std::vector<std::pair<std::string, std::string>> codes;  ///< "lowered" first, then "cuda" or "asm"
};

/// A page that needs no other file and no network. Loops, storage and definitions of the tree are linked with
/// the lines of code that came from them: pointing at either marks the other, a click keeps the mark.
std::string html_page(const PageContents& contents);

}  // namespace calotype::cli
