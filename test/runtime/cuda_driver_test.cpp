// The driver: what is said where it is missing, and our declarations against those of cuda.h.

#include "runtime/cuda_driver.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <type_traits>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define HAVE_CUDA_H 1
#endif

#include "runtime/cuda_device.h"
#include "runtime/nvrtc.h"

namespace {

/// Opens what the environment names in a process of its own, since a process looks only once, and prints the
/// error.
template <class Open>
void report(const char* variable, const char* value, Open open) {
  setenv(variable, value, 1);
  calotype_context context{};
  open(&context);
  fprintf(stderr, "kind %d: %s\n", context.error.kind, context.error.message);
  _Exit(0);
}

void open_driver(calotype_context* context) { calotype_cuda_open(context); }
void open_nvrtc(calotype_context* context) { calotype_nvrtc_version(context); }

TEST(CudaDriver, MissingPiecesAreNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(report("CALOTYPE_LIBCUDA", "libno_such_driver.so.1", open_driver), ::testing::ExitedWithCode(0),
              "kind 4: libno_such_driver.so.1 not found: no NVIDIA driver on this machine");
  EXPECT_EXIT(report("CALOTYPE_LIBCUDA", "libm.so.6", open_driver), ::testing::ExitedWithCode(0),
              "kind 4: libm.so.6 has no cuInit: the NVIDIA driver is too old");
}

TEST(CudaDriver, EitherOpensOrSaysWhyNot) {
  calotype_context context{};
  calotype_cuda_device device;
  const calotype_error_kind kind = calotype_cuda_device_open(&context, 0, &device);
  if (kind != CALOTYPE_GOOD) {
    EXPECT_EQ(kind, CALOTYPE_NO_TARGET);
    EXPECT_NE(context.error.message[0], 0);
    GTEST_SKIP() << "no GPU: " << context.error.message;
  }
  EXPECT_GT(device.multiprocessors, 0);
  EXPECT_GE(device.shared_bytes, 48 * 1024);
  EXPECT_EQ(std::string(device.arch).rfind("sm_", 0), 0u);
  calotype_cuda_device none;
  EXPECT_EQ(calotype_cuda_device_open(&context, 1000, &none), CALOTYPE_NO_TARGET);
  EXPECT_STREQ(context.error.value, "1000");
  calotype_cuda_device_close(&device);
}

TEST(Nvrtc, MissingLibraryIsNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(report("CALOTYPE_NVRTC", "/no/such/folder", open_nvrtc), ::testing::ExitedWithCode(0),
              "kind 4: CALOTYPE_NVRTC names '/no/such/folder', where no libnvrtc can be opened");
  EXPECT_EXIT(report("CALOTYPE_NVRTC", "libm.so.6", open_nvrtc), ::testing::ExitedWithCode(0),
              "kind 4: libm.so.6 has no nvrtcVersion");
}

/// What this process has mapped, as text.
std::string mapped_files() {
  std::ifstream maps("/proc/self/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

/// The file of NVRTC, which this process has opened.
std::string file_of_nvrtc() {
  const std::string files = mapped_files();
  const std::size_t name = files.find("/libnvrtc.so"), begin = files.rfind(' ', name) + 1;
  return files.substr(begin, files.find('\n', begin) - begin);
}

/// Finds NVRTC in a process with a cache of its own, and prints whether that opened it.
void find_with_cache(const std::string& folder, bool compiles) {
  setenv("CALOTYPE_CACHE", folder.c_str(), 1);
  calotype_context context{};
  const int version = calotype_nvrtc_version(&context);
  const bool open = mapped_files().find("libnvrtc.so") != std::string::npos;
  calotype_nvrtc_output output{};
  if (compiles)
    calotype_nvrtc_compile(&context, "extern \"C\" __global__ void k() {}", "k.cu", "sm_90a", nullptr, 0,
                           &output);
  fprintf(stderr, "%d %s %s\n", version >= 12000, open ? "opened" : "not opened",
          output.cubin ? "compiled" : "");
  _Exit(0);
}

TEST(Nvrtc, VersionOfAFileIsKeptInTheCache) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The processes of the statements below begin this test anew: they take the folder of the first, and look
  // for NVRTC nowhere but in the statement.
  const char* given = getenv("CALOTYPE_TEST_FOLDER");
  const std::string folder =
      given ? given
            : (std::filesystem::temp_directory_path() / ("calotype_nvrtc." + std::to_string(getpid())))
                  .string();
  if (!given) {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
    // Where NVRTC is found by its name alone, which tells no file, its file is named.
    if (!strchr(calotype_nvrtc_path(), '/')) setenv("CALOTYPE_NVRTC", file_of_nvrtc().c_str(), 1);
    setenv("CALOTYPE_TEST_FOLDER", folder.c_str(), 1);
  }
  EXPECT_EXIT(find_with_cache(folder, false), ::testing::ExitedWithCode(0), "1 opened");
  EXPECT_EXIT(find_with_cache(folder, false), ::testing::ExitedWithCode(0), "1 not opened");
  EXPECT_EXIT(find_with_cache(folder, true), ::testing::ExitedWithCode(0), "1 not opened compiled");
  unsetenv("CALOTYPE_TEST_FOLDER");
  std::filesystem::remove_all(folder);
}

TEST(Nvrtc, CompilesAndReportsFailures) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  EXPECT_GE(calotype_nvrtc_version(&context), 12000);
  calotype_nvrtc_output output;
  const char* good = "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1.0f; }";
  ASSERT_EQ(calotype_nvrtc_compile(&context, good, "k.cu", "sm_90a", nullptr, 0, &output), CALOTYPE_GOOD)
      << context.error.message;
  EXPECT_EQ(output.failed, 0);
  EXPECT_NE(strstr(output.ptx, ".entry k"), nullptr);
  EXPECT_EQ(memcmp(output.cubin, "\177ELF", 4), 0);
  calotype_nvrtc_free(&output);
  ASSERT_EQ(calotype_nvrtc_compile(&context, "nonsense", "k.cu", "sm_90a", nullptr, 0, &output),
            CALOTYPE_GOOD);
  EXPECT_EQ(output.failed, 1);
  EXPECT_NE(strstr(output.log, "error"), nullptr);
  calotype_nvrtc_free(&output);
  EXPECT_EQ(calotype_nvrtc_compile(&context, good, "k.cu", "sm_1", nullptr, 0, &output), CALOTYPE_NO_TARGET);
  EXPECT_STREQ(context.error.value, "sm_1");
  calotype_nvrtc_free(&output);
}

#ifdef HAVE_CUDA_H

/// Two function types that a call cannot tell apart: as many parameters, each of one size, pointers where
/// pointers are.
template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class... Ours, class... Theirs>
struct SameCall<calotype_cu_result(Ours...), CUresult(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs)) {
      return false;
    } else {
      // NOLINTNEXTLINE(bugprone-sizeof-expression): parameters are passed by their own size, pointers too
      return ((sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>) &&
              ...);
    }
  }();
};

#define CHECK_CALL(name, symbol, parameters)                                                             \
  static_assert(SameCall<std::remove_pointer_t<decltype(calotype_cuda::name)>, decltype(symbol)>::value, \
                #symbol " is declared otherwise in cuda.h");
CALOTYPE_CUDA_FUNCTIONS(CHECK_CALL)
CALOTYPE_CUDA_NEWER_FUNCTIONS(CHECK_CALL)

static_assert(sizeof(calotype_cu_pointer) == sizeof(CUdeviceptr) &&
              sizeof(calotype_cu_device) == sizeof(CUdevice));
static_assert(sizeof(calotype_cu_launch) == sizeof(CUlaunchConfig) &&
              offsetof(calotype_cu_launch, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes) &&
              offsetof(calotype_cu_launch, attributes) == offsetof(CUlaunchConfig, attrs) &&
              sizeof(calotype_cu_launch_attribute) == sizeof(CUlaunchAttribute) &&
              offsetof(calotype_cu_launch_attribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(calotype_cu_tensor_map) == sizeof(CUtensorMap) &&
              alignof(calotype_cu_tensor_map) >= alignof(CUtensorMap));
static_assert(sizeof(calotype_cu_handle) == sizeof(CUstream) &&
              sizeof(calotype_cu_result) == sizeof(CUresult));

TEST(CudaHeader, NumbersAgree) {
  EXPECT_EQ(int{CALOTYPE_CU_WARP_SIZE}, int{CU_DEVICE_ATTRIBUTE_WARP_SIZE});
  EXPECT_EQ(int{CALOTYPE_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION},
            int{CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION});
  EXPECT_EQ(int{CALOTYPE_CU_MULTIPROCESSORS}, int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT});
  EXPECT_EQ(int{CALOTYPE_CU_MAJOR}, int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
  EXPECT_EQ(int{CALOTYPE_CU_MINOR}, int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
  EXPECT_EQ(int{CALOTYPE_CU_SHARED_OPTIN}, int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
  EXPECT_EQ(int{CALOTYPE_CU_MEMORY_POOLS}, int{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED});
  EXPECT_EQ(int{CALOTYPE_CU_FUNC_MAX_THREADS}, int{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
  EXPECT_EQ(int{CALOTYPE_CU_FUNC_SHARED}, int{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES});
  EXPECT_EQ(int{CALOTYPE_CU_FUNC_LOCAL}, int{CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES});
  EXPECT_EQ(int{CALOTYPE_CU_FUNC_REGISTERS}, int{CU_FUNC_ATTRIBUTE_NUM_REGS});
  EXPECT_EQ(int{CALOTYPE_CU_FUNC_MAX_DYNAMIC_SHARED}, int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
  EXPECT_EQ(int{CALOTYPE_CU_FUNC_NON_PORTABLE_CLUSTER},
            int{CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED});
  EXPECT_EQ(int{CALOTYPE_CU_LAUNCH_CLUSTER_DIMENSION}, int{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION});
  EXPECT_EQ(int{CALOTYPE_CU_POOL_RELEASE_THRESHOLD}, int{CU_MEMPOOL_ATTR_RELEASE_THRESHOLD});
  EXPECT_EQ(int{CALOTYPE_CU_CAPTURE_GLOBAL}, int{CU_STREAM_CAPTURE_MODE_GLOBAL});
  EXPECT_EQ(int{CALOTYPE_CU_CAPTURE_RELAXED}, int{CU_STREAM_CAPTURE_MODE_RELAXED});
  EXPECT_EQ(int{CALOTYPE_CU_POINTER_CONTEXT}, int{CU_POINTER_ATTRIBUTE_CONTEXT});
  EXPECT_EQ(int{CALOTYPE_CU_POINTER_MEMORY_TYPE}, int{CU_POINTER_ATTRIBUTE_MEMORY_TYPE});
  EXPECT_EQ(int{CALOTYPE_CU_POINTER_DEVICE_POINTER}, int{CU_POINTER_ATTRIBUTE_DEVICE_POINTER});
  EXPECT_EQ(int{CALOTYPE_CU_POINTER_IS_MANAGED}, int{CU_POINTER_ATTRIBUTE_IS_MANAGED});
  EXPECT_EQ(int{CALOTYPE_CU_POINTER_ORDINAL}, int{CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL});
  EXPECT_EQ(int{CALOTYPE_CU_MEMORY_HOST}, int{CU_MEMORYTYPE_HOST});
  EXPECT_EQ(int{CALOTYPE_CU_MEMORY_DEVICE}, int{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_UINT8}, int{CU_TENSOR_MAP_DATA_TYPE_UINT8});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_UINT16}, int{CU_TENSOR_MAP_DATA_TYPE_UINT16});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_UINT32}, int{CU_TENSOR_MAP_DATA_TYPE_UINT32});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_UINT64}, int{CU_TENSOR_MAP_DATA_TYPE_UINT64});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_SWIZZLE_NONE}, int{CU_TENSOR_MAP_SWIZZLE_NONE});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_SWIZZLE_32}, int{CU_TENSOR_MAP_SWIZZLE_32B});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_SWIZZLE_64}, int{CU_TENSOR_MAP_SWIZZLE_64B});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_SWIZZLE_128}, int{CU_TENSOR_MAP_SWIZZLE_128B});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_INTERLEAVE_NONE}, int{CU_TENSOR_MAP_INTERLEAVE_NONE});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_L2_NONE}, int{CU_TENSOR_MAP_L2_PROMOTION_NONE});
  EXPECT_EQ(int{CALOTYPE_CU_TENSOR_FILL_ZEROS}, int{CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE});
  EXPECT_EQ(int{CALOTYPE_CU_INVALID_VALUE}, int{CUDA_ERROR_INVALID_VALUE});
  EXPECT_EQ(int{CALOTYPE_CU_OUT_OF_MEMORY}, int{CUDA_ERROR_OUT_OF_MEMORY});
  EXPECT_EQ(int{CALOTYPE_CU_INVALID_IMAGE}, int{CUDA_ERROR_INVALID_IMAGE});
  EXPECT_EQ(int{CALOTYPE_CU_NO_BINARY}, int{CUDA_ERROR_NO_BINARY_FOR_GPU});
  EXPECT_EQ(int{CALOTYPE_CU_ECC_UNCORRECTABLE}, int{CUDA_ERROR_ECC_UNCORRECTABLE});
  EXPECT_EQ(int{CALOTYPE_CU_INVALID_PTX}, int{CUDA_ERROR_INVALID_PTX});
  EXPECT_EQ(int{CALOTYPE_CU_UNSUPPORTED_PTX}, int{CUDA_ERROR_UNSUPPORTED_PTX_VERSION});
  EXPECT_EQ(int{CALOTYPE_CU_INVALID_HANDLE}, int{CUDA_ERROR_INVALID_HANDLE});
  EXPECT_EQ(int{CALOTYPE_CU_ILLEGAL_ADDRESS}, int{CUDA_ERROR_ILLEGAL_ADDRESS});
  EXPECT_EQ(int{CALOTYPE_CU_OUT_OF_RESOURCES}, int{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES});
  EXPECT_EQ(int{CALOTYPE_CU_LAUNCH_TIMEOUT}, int{CUDA_ERROR_LAUNCH_TIMEOUT});
  EXPECT_EQ(int{CALOTYPE_CU_ASSERT}, int{CUDA_ERROR_ASSERT});
  EXPECT_EQ(int{CALOTYPE_CU_HARDWARE_STACK}, int{CUDA_ERROR_HARDWARE_STACK_ERROR});
  EXPECT_EQ(int{CALOTYPE_CU_LAUNCH_FAILED}, int{CUDA_ERROR_LAUNCH_FAILED});
}

#else

TEST(CudaHeader, NumbersAgree) { GTEST_SKIP() << "no cuda.h on this machine"; }

#endif

}  // namespace
