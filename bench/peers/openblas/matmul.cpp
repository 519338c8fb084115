// matmul for OpenBLAS: C = A @ B in f32 by cblas_sgemm. The library is opened at run time, from
// OPENBLAS_LIBRARY, so that it need not be installed; OPENBLAS_CORETYPE chooses its kernels.
#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "../serve.h"

namespace {

using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                       const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
using Text = char* (*)();
constexpr int kRowMajor = 101, kNoTranspose = 111;

template <class Function>
Function find(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (!symbol) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function>(symbol);
}

peers::Side matmul(const peers::Job& job) {
  const char* path = std::getenv("OPENBLAS_LIBRARY");
  void* library = dlopen(path ? path : "libopenblas.so.0", RTLD_NOW);
  if (!library) throw std::runtime_error(dlerror());
  const auto sgemm = find<Sgemm>(library, "cblas_sgemm");
  const auto config = find<Text>(library, "openblas_get_config");

  const int m = job.size("M"), n = job.size("N"), k = job.size("K");
  if (job.type != "f32" || job.files.size() != 2) throw std::runtime_error("two f32 inputs are needed");
  auto matrix = [](int rows, int columns) { return std::vector<float>(std::size_t(rows) * columns); };
  auto a = matrix(m, k), b = matrix(k, n), c = matrix(m, n);
  peers::read_bytes(job.files[0], a.data(), a.size() * sizeof(float));
  peers::read_bytes(job.files[1], b.data(), b.size() * sizeof(float));

  auto data = std::make_shared<std::vector<std::vector<float>>>();
  *data = {std::move(a), std::move(b), std::move(c)};
  peers::Side side;
  side.about = config();
  side.run = [=] {
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, (*data)[0].data(), k, (*data)[1].data(), n, 0,
          (*data)[2].data(), n);
  };
  side.write = [=](const std::string& file) {
    peers::write_bytes(file, (*data)[2].data(), (*data)[2].size() * sizeof(float));
  };
  return side;
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] { return matmul(peers::parse_job(argc, argv, 1)); });
}
