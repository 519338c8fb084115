#pragma once
// Inputs of the image operators as photos have them: samples over the whole range of their type, and memory
// that is not always dense planes.

#include "operators/harness.h"

namespace calotype::test {

/// How the samples of an image lie in memory.
enum class Layout {
  Planar,       ///< dense, x innermost
  Interleaved,  ///< the channels of a pixel side by side; an image without channels has gaps between samples
  Padded,       ///< planes whose rows have unused samples at their ends
};

/// A random image: integers over the whole range of the type, floats in [0, 1), dark and bright patches as
/// large as a few samples among them so that neighbours are not all unlike.
Buffer random_image(Type type, const std::vector<std::int64_t>& extents, Layout layout, unsigned seed);

/// A call of `op` on random images.
cli::Call image_call(const std::string& op, const Pipeline& pipeline, const cli::Sizes& sizes,
                     const std::map<std::string, double>& params, Layout layout);

/// The schedule's results equal the reference, on images in each layout.
void check_layouts(const ScheduleCase& c, const cli::Sizes& sizes,
                   const std::map<std::string, double>& params = {});
/// The same, on dense planes.
void check_images(const ScheduleCase& c, const cli::Sizes& sizes,
                  const std::map<std::string, double>& params = {});

}  // namespace calotype::test
