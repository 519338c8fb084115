// .npy files: what NumPy writes is read, what is written NumPy would read, and broken files are refused.
#include "cli/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calotype/error.h"
#include "cli/convert.h"
#include "program.h"
#include "support/float8.h"

namespace calotype::cli {
namespace {

using test::Directory;

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string bytes = std::string("\x93NUMPY", 6) + static_cast<char>(version) + '\0';
  bytes += static_cast<char>(dictionary.size());
  bytes += '\0';
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + dictionary + data;
}

template <class T>
std::string bytes_of(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Npy, DimensionZeroIsTheLastAxis) {
  const std::string file =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  const Buffer b = parse_npy(file, "x.npy");
  ASSERT_EQ(b.rank(), 2);
  EXPECT_EQ(b.extent(0), 3);
  EXPECT_EQ(b.extent(1), 2);
  EXPECT_EQ(b.at<float>({2, 0}), 3);
  EXPECT_EQ(b.at<float>({0, 1}), 4);
}

TEST(Npy, FortranOrderGivesTheSameElements) {
  const std::string file = npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
                               bytes_of<std::int16_t>({1, 4, 2, 5, 3, 6}), 2);
  const Buffer b = parse_npy(file, "x.npy");
  EXPECT_EQ(b.extent(0), 3);
  EXPECT_EQ(b.stride(0), 1);
  EXPECT_EQ(b.at<std::int16_t>({2, 0}), 3);
  EXPECT_EQ(b.at<std::int16_t>({0, 1}), 4);
}

TEST(Npy, BigEndianIsSwapped) {
  const Buffer b = parse_npy(
      npy("{'descr': '>u4', 'fortran_order': False, 'shape': (1,), }", std::string("\0\0\1\2", 4)), "x");
  EXPECT_EQ(b.at<std::uint32_t>({0}), 258u);
}

TEST(Npy, EveryTypeSurvivesWritingAndReading) {
  Directory directory;
  for (Type type : {Bool(), Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64),
                    Float(16), Float(32), Float(64)}) {
    Buffer b(type, {3, 2});
    for (int i = 0; i < 6; ++i) b.set_value({i % 3, i / 3}, type.is_bool() ? i % 2 : i * 9);
    const std::string path = directory / ("t_" + type.str() + ".npy");
    write_npy(path, b);
    const Buffer back = read_npy(path);
    ASSERT_EQ(back.type(), type);
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(back.value({i % 3, i / 3}), b.value({i % 3, i / 3})) << type.str() << " " << i;
  }
}

TEST(Npy, HeaderIsAlignedAsNumPyDoes) {
  Directory directory;
  write_npy(directory / "a.npy", Buffer(Float(32), {5}));
  const std::string bytes = Directory::read(directory / "a.npy");
  EXPECT_EQ(bytes.size(), 128u + 20u);
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_NE(bytes.find("'shape': (5,)"), std::string::npos);
}

TEST(Npy, Bfloat16IsWrittenAsF32) {
  Directory directory;
  Buffer b(BFloat(16), {2});
  b.set_value({0}, 1.5);
  b.set_value({1}, -3.0);
  write_npy(directory / "b.npy", b);
  const Buffer back = read_npy(directory / "b.npy");
  EXPECT_EQ(back.type(), Float(32));
  EXPECT_EQ(back.value({1}), -3.0);
}

TEST(Npy, Floats8AreWrittenAsF32AndReadWithRounding) {
  Directory directory;
  for (const Type type : {E4M3(), E5M2()}) {
    Buffer all(type, {256});
    for (int i = 0; i < 256; ++i) static_cast<std::uint8_t*>(all.data())[i] = static_cast<std::uint8_t>(i);
    write_npy(directory / "f8.npy", all);
    const Buffer back = read_npy(directory / "f8.npy");
    EXPECT_EQ(back.type(), Float(32));
    for (int i = 0; i < 256; ++i) {
      const double expected = testing::float8_number(type, i);
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(back.value({i})) : back.value({i}) == expected) << i;
    }
    const std::vector<float> probes = testing::float8_probes<float>(type);
    Buffer values(Float(32), {static_cast<std::int64_t>(probes.size())});
    std::copy(probes.begin(), probes.end(), static_cast<float*>(values.data()));
    const Buffer rounded = convert(values, type);
    for (std::size_t i = 0; i < probes.size(); ++i)
      EXPECT_EQ(static_cast<std::uint8_t*>(rounded.data())[i], testing::float8_nearest(type, probes[i]))
          << probes[i];
  }
}

TEST(Npy, StridedBuffersAreWrittenInOrder) {
  Directory directory;
  Buffer b(Int(32), {2, 3});
  for (int i = 0; i < 6; ++i) b.set_value({i % 2, i / 2}, i);
  write_npy(directory / "s.npy", b.transpose({1, 0}));
  const Buffer back = read_npy(directory / "s.npy");
  EXPECT_EQ(back.extent(0), 3);
  EXPECT_EQ(back.value({2, 1}), 5);
  EXPECT_EQ(back.value({1, 0}), 2);
}

TEST(Npy, ZeroSizedAndScalarShapes) {
  EXPECT_EQ(parse_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 0), }", ""), "x").elements(),
            0);
  const Buffer scalar =
      parse_npy(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", bytes_of<double>({7})), "x");
  EXPECT_EQ(scalar.rank(), 0);
}

TEST(Npy, BrokenFilesAreUsageErrors) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
  const std::vector<std::string> broken = {
      "",
      "no npy at all, but long enough",
      npy(good, "short"),
      npy(good, std::string(16, 'x')).substr(0, 30),
      npy(good, std::string(16, 'x'), 9),
      npy("{'descr': '<c8', 'fortran_order': False, 'shape': (4,), }", std::string(32, 'x')),
      npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", std::string(16, 'x')),
      npy("{'fortran_order': False, 'shape': (4,), }", std::string(16, 'x')),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }", std::string(16, 'x')),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
          std::string(16, 'x')),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
          std::string(16, 'x')),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }", std::string(16, 'x')),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': ", ""),
  };
  for (const std::string& bytes : broken) {
    try {
      parse_npy(bytes, "broken.npy");
      ADD_FAILURE() << "accepted: " << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage) << bytes;
    }
  }
}

}  // namespace
}  // namespace calotype::cli
