// cuBLAS by its C functions (cuBLAS Library, "cublasGemmEx"; its numbers are those of library_types.h and
// cublas_api.h).
#include "gpu/cublas.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace calotype::bench {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr int kDataF32 = 0, kDataF16 = 2, kDataS8 = 3, kDataS32 = 10, kDataBF16 = 14;
constexpr int kComputeF32 = 68, kComputeS32 = 72;
constexpr int kAsIs = 0, kTransposed = 1, kDefaultAlgorithm = -1;

int data_type(Type type) {
  if (type == Float(32)) return kDataF32;
  if (type == Float(16)) return kDataF16;
  if (type == BFloat(16)) return kDataBF16;
  if (type == Int(8)) return kDataS8;
  if (type == Int(32)) return kDataS32;
  throw std::runtime_error("cuBLAS is asked for no product of " + type.str());
}

void require(int status, const char* action) {
  if (status != 0)
    throw std::runtime_error(std::string(action) + ": cuBLAS status " + std::to_string(status));
}

/// The last match of a pattern that opens, or null.
void* open_match(const std::string& pattern) {
  glob_t found;
  void* library = nullptr;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = found.gl_pathc; i-- > 0 && !library;)
      library = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
  globfree(&found);
  return library;
}

void* open_library() {
  if (const char* named = std::getenv("CALOTYPE_CUBLAS"); named && *named) {
    if (void* library = dlopen(named, RTLD_NOW | RTLD_LOCAL)) return library;
    throw std::runtime_error(std::string("CALOTYPE_CUBLAS: ") + dlerror());
  }
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  // The toolkit's, then the wheels': those of 13 put it into nvidia/cu13/lib, those before into
  // nvidia/cublas/lib.
  const std::pair<const char*, const char*> places[] = {
      {std::getenv("CUDA_HOME"), "/lib64/"},
      {"/usr/local/cuda", "/lib64/"},
      {std::getenv("CALOTYPE_SITE_PACKAGES"), "/nvidia/cu*/lib/"},
      {std::getenv("VIRTUAL_ENV"), "/lib/python3*/site-packages/nvidia/cu*/lib/"}};
  for (const auto& [root, below] : places)
    if (root && *root)
      if (void* library = open_match(std::string(root) + below + "libcublas.so.1[23]")) return library;
  throw std::runtime_error(
      "there is no cuBLAS here: CALOTYPE_CUBLAS names its library, or CALOTYPE_SITE_PACKAGES the folder of "
      "the wheel nvidia-cublas");
}

}  // namespace

struct Cublas::Functions {
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, calotype_cu_handle stream);
  int (*set_workspace)(void* handle, void* memory, std::size_t bytes);
  int (*gemm)(void* handle, int a_operation, int b_operation, int m, int n, int k, const void* alpha,
              const void* a, int a_type, int a_pitch, const void* b, int b_type, int b_pitch,
              const void* beta, void* c, int c_type, int c_pitch, int compute, int algorithm);

  Functions() {
    void* library = open_library();
    find(library, "cublasCreate_v2", create);
    find(library, "cublasDestroy_v2", destroy);
    find(library, "cublasSetStream_v2", set_stream);
    find(library, "cublasSetWorkspace_v2", set_workspace);
    find(library, "cublasGemmEx", gemm);
  }
  template <class F>
  static void find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function) throw std::runtime_error(std::string("cuBLAS has no ") + name);
  }
};

Cublas::Cublas(const cuda::Device& device, calotype_cu_handle stream)
    : functions_(std::make_unique<Functions>()), workspace_(device, kWorkspaceBytes) {
  require(functions_->create(&handle_), "cublasCreate");
  require(functions_->set_stream(handle_, stream), "cublasSetStream");
  require(functions_->set_workspace(handle_, workspace_.data(), kWorkspaceBytes), "cublasSetWorkspace");
}

Cublas::~Cublas() { functions_->destroy(handle_); }

/// Its matrices have their columns in order: as such C is N x M, B's columns times A's.
void Cublas::enqueue(const VendorProduct& p, const void* a, const void* b, void* c) const {
  const bool integer = !p.type.is_float();
  const float one_f = 1, zero_f = 0;
  const int one_i = 1, zero_i = 0;
  const void *one = &one_f, *zero = &zero_f;
  if (integer) one = &one_i, zero = &zero_i;
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  const int pitch_b = number(p.b_transposed ? p.k : p.n), pitch_a = number(p.a_transposed ? p.m : p.k);
  require(
      functions_->gemm(handle_, p.b_transposed ? kTransposed : kAsIs, p.a_transposed ? kTransposed : kAsIs,
                       number(p.n), number(p.m), number(p.k), one, b, data_type(p.type), pitch_b, a,
                       data_type(p.type), pitch_a, zero, c, data_type(p.result), number(p.n),
                       integer ? kComputeS32 : kComputeF32, kDefaultAlgorithm),
      "cublasGemmEx");
}

}  // namespace calotype::bench
