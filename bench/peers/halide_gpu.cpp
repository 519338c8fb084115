// Halide's CUDA code on a GPU: functions that bench/peers/setup has had Halide write, linked in with Halide's
// runtime.
//
//   halide_gpu NAME WIDTH HEIGHT INPUT ROUNDS [OUTPUT]
//
// INPUT: the bytes of an image of 3 planes of u8. Prints the median over ROUNDS of the time of a call in
// microseconds: by the host's clock, calls one after the other on the same two images, which stay on the
// device, and a wait for the last. OUTPUT: where to write the result's bytes.
#include <HalideBuffer.h>
#include <HalideRuntimeCuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "functions.h"

namespace {

using Image = Halide::Runtime::Buffer<std::uint8_t, 3>;
using Function = int (*)(halide_buffer_t* in, halide_buffer_t* out);

const std::map<std::string, Function> kFunctions = {
    {"blur3x3_gpu_threads", blur3x3_gpu_threads},
    {"blur3x3_gpu", blur3x3_gpu},
    {"local_laplacian_gpu", local_laplacian_gpu},
    {"local_laplacian_gpu_blocks", local_laplacian_gpu_blocks},
};
constexpr int kCallsOfARound = 20;

void require(int error) {
  if (error) throw std::runtime_error("Halide reports error " + std::to_string(error));
}

void write(const std::string& path, Image& image) {
  require(image.copy_to_host());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(image.data()),
             static_cast<std::streamsize>(image.size_in_bytes()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(const std::string& name, int width, int height, const std::string& input, int rounds,
        const std::string& output) {
  const Function function = kFunctions.at(name);
  Image in(width, height, 3), out(width, height, 3);
  std::ifstream file(input, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(in.data()), static_cast<std::streamsize>(in.size_in_bytes())))
    throw std::runtime_error(input + " is too short");
  std::memset(out.data(), 0xa5, out.size_in_bytes());
  in.set_host_dirty();
  // What lies between the stages is kept from call to call: the driver's allocations would take longer than
  // the kernels.
  require(halide_reuse_device_allocations(nullptr, true));
  const auto call = [&] { require(function(in.raw_buffer(), out.raw_buffer())); };
  call();
  require(out.device_sync());
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCallsOfARound; ++i) call();
    require(out.device_sync());
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
    times.push_back(passed.count() / kCallsOfARound);
  }
  std::sort(times.begin(), times.end());
  std::printf("%.3f\n", times[times.size() / 2]);
  if (!output.empty()) write(output, out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: halide_gpu NAME WIDTH HEIGHT INPUT ROUNDS [OUTPUT]\n");
    return 2;
  }
  try {
    return run(argv[1], std::stoi(argv[2]), std::stoi(argv[3]), argv[4], std::stoi(argv[5]),
               argc > 6 ? argv[6] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "halide_gpu: %s\n", error.what());
    return 1;
  }
}
