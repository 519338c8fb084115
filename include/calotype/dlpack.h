#pragma once
// Tensors of other libraries, by the DLPack protocol (versions 0.x and 1.x), without a copy.
//
// The two structures are only named here, so that any dlpack.h may be included before or after; their layout
// is the protocol's. Dimensions are in the other order: a tensor's last dimension is dimension 0 of a Buffer.

#include "calotype/buffer.h"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace calotype {

/// A Buffer over the tensor's memory. It owns the tensor, and calls its deleter once the last copy of the
/// Buffer is gone. Elements: integers of 8 to 64 bits, floats of 16 to 64, bfloat16, float8_e4m3fn (e4m3),
/// float8_e5m2 (e5m2) and bool, one lane each, in host memory (also pinned) or that of an NVIDIA GPU (also
/// managed). For anything else, and for a null pointer, Error(Usage); the tensor then stays the caller's.
///
/// The protocol's C structures name no stream: the producer's work on a GPU's tensor has to be over, or in
/// the stream that the kernel is called on.
Buffer from_dlpack(DLManagedTensor* tensor);
/// The same for DLPack 1.x. A tensor marked read-only is taken as an input would be: nothing keeps a kernel
/// from writing to it but its not being an output.
Buffer from_dlpack(DLManagedTensorVersioned* tensor);

/// A tensor over the Buffer's memory, the host's or a GPU's, which it keeps alive until its deleter is
/// called. Coordinates start at 0, whatever the Buffer's did. Error(Usage) for an undefined Buffer.
DLManagedTensor* to_dlpack(const Buffer& buffer);
DLManagedTensorVersioned* to_dlpack_versioned(const Buffer& buffer);

}  // namespace calotype
