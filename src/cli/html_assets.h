#pragma once
// Style and script of the page of `show --html`.

namespace calotype::cli {

extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace calotype::cli
