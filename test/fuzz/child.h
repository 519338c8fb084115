#pragma once
// Work in a process of its own, so that a crash or an endless loop is an outcome like others.

#include <functional>
#include <string>
#include <vector>

namespace calotype::fuzz {

/// What a child has said, and how it ended.
struct Ending {
  bool finished = false;  ///< came to the end of its work
  std::string how;        ///< otherwise: "signal 11 (Segmentation fault)", "no end after 60 s"
};

/// Sends one message to the parent. Messages may hold any bytes.
using Say = std::function<void(const std::string& message)>;
/// Gives the child, from now on, so many seconds of the processor until it is stopped.
void allow_seconds(unsigned seconds);

/// Runs `work` in a child; `hear` gets its messages in order, in this process.
Ending in_child(const std::function<void(const Say&)>& work,
                const std::function<void(const std::string&)>& hear);

}  // namespace calotype::fuzz
