// NumPy's .npy files: a magic string, a header that is a Python dictionary, and the elements.
#include "cli/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "cli/convert.h"
#include "cli/files.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

struct Header {
  Type type;
  bool big_endian = false;
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::size_t data = 0;  // offset of the first element
};

constexpr const char* kTypes = "b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 or f8";

std::optional<Type> parse_kind(char kind, int bytes) {
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (kind == 'b' && bytes == 1) return Bool();
  if (kind == 'i' && power) return Int(bytes * 8);
  if (kind == 'u' && power) return UInt(bytes * 8);
  if (kind == 'f' && power && bytes > 1) return Float(bytes * 8);
  return std::nullopt;
}

std::string kind_of(Type type) {
  const char kind = type.is_bool() ? 'b' : type.is_int() ? 'i' : type.is_uint() ? 'u' : 'f';
  return fmt::format("{}{}{}", type.bytes() == 1 ? '|' : '<', kind, type.bytes());
}

// What follows `'key':` in the dictionary, blanks skipped.
std::string_view after_key(std::string_view dictionary, std::string_view key, const std::string& path) {
  std::size_t at = dictionary.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) usage_error(fmt::format("the .npy header has no '{}'", key), path);
  at = dictionary.find(':', at);
  at = at == std::string_view::npos ? at : dictionary.find_first_not_of(" \t\n", at + 1);
  if (at == std::string_view::npos) usage_error(fmt::format("the .npy header ends after '{}'", key), path);
  return dictionary.substr(at);
}

void parse_type(std::string_view text, const std::string& path, Header& header) {
  const std::size_t close = text.size() > 1 ? text.find('\'', 1) : std::string_view::npos;
  if (text[0] != '\'' || close == std::string_view::npos || close < 4)
    usage_error("the .npy file's element type is not a plain one", path, kTypes);
  const std::string_view descr = text.substr(1, close - 1);
  int bytes = 0;
  for (char c : descr.substr(2)) bytes = c >= '0' && c <= '9' && bytes < 100 ? bytes * 10 + (c - '0') : 1000;
  const std::optional<Type> type = parse_kind(descr[1], bytes);
  if (!type || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    usage_error(fmt::format("{}: the .npy file's element type is not supported", path), std::string(descr),
                kTypes);
  header.type = *type;
  header.big_endian = descr[0] == '>';
}

void parse_shape(std::string_view text, const std::string& path, Header& header) {
  const std::size_t close = text.find(')');
  if (text[0] != '(' || close == std::string_view::npos)
    usage_error("the .npy file's shape is no tuple", path);
  std::int64_t number = -1;  // none read yet
  for (char c : text.substr(1, close)) {
    if (c >= '0' && c <= '9') {
      number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
      if (number > (std::int64_t{1} << 48)) usage_error("the .npy file's shape is too large", path);
    } else if (c == ',' || c == ')') {
      if (number >= 0) header.shape.push_back(number);
      number = -1;
    } else if (c != ' ' && c != 'L') {
      usage_error("the .npy file's shape is not a tuple of numbers", path);
    }
  }
  if (header.shape.size() > CALOTYPE_MAX_RANK)
    usage_error("the .npy file has too many dimensions", path,
                fmt::format("at most {}", int{CALOTYPE_MAX_RANK}));
}

Header parse_header(const std::string& bytes, const std::string& path) {
  if (bytes.size() < 12 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    usage_error("the file is no .npy file", path, "a file that begins with \\x93NUMPY, as numpy.save writes");
  auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    usage_error("the .npy file's version is not known", path, "versions 1 to 3");
  const std::size_t begin = version == 1 ? 10 : 12;
  const std::size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (begin + length > bytes.size()) usage_error("the .npy file is cut short in its header", path);
  const std::string_view dictionary(bytes.data() + begin, length);
  Header header;
  header.data = begin + length;
  parse_type(after_key(dictionary, "descr", path), path, header);
  header.fortran = after_key(dictionary, "fortran_order", path).substr(0, 4) == "True";
  parse_shape(after_key(dictionary, "shape", path), path, header);
  return header;
}

// Number of elements, refused where the file does not hold so many.
std::size_t element_count(const Header& header, std::size_t available, const std::string& path) {
  std::size_t count = 1;
  const bool empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  for (std::int64_t extent : header.shape) {
    if (empty) return 0;
    count *= static_cast<std::size_t>(extent);
    if (count > available)
      usage_error("the .npy file is cut short: its shape asks for more elements than it holds", path);
  }
  return count;
}

void swap_bytes(void* data, std::size_t count, int width) {
  auto* p = static_cast<unsigned char*>(data);
  for (std::size_t i = 0; i < count; ++i, p += width) std::reverse(p, p + width);
}

}  // namespace

Buffer parse_npy(const std::string& bytes, const std::string& path) {
  const Header header = parse_header(bytes, path);
  const int width = header.type.bytes();
  const std::size_t count = element_count(header, (bytes.size() - header.data) / width, path);
  // In C order the last axis is innermost, in Fortran order the first.
  std::vector<std::int64_t> extents = header.shape;
  if (!header.fortran) std::reverse(extents.begin(), extents.end());
  Buffer stored(header.type, extents);
  if (count > 0) std::memcpy(stored.data(), bytes.data() + header.data, count * width);
  if (header.big_endian) swap_bytes(stored.data(), count, width);
  if (!header.fortran) return stored;
  std::vector<int> order(extents.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(order.size() - 1 - i);
  return stored.transpose(order).copy();
}

Buffer read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

void write_npy(const std::string& path, const Buffer& given) {
  const bool unknown = given.type() == BFloat(16) || given.type().is_float8();  // to NumPy
  const Buffer buffer = unknown ? convert(given, Float(32)) : given.copy();     // dense in either case
  std::string shape;
  for (int d = buffer.rank() - 1; d >= 0; --d) shape += fmt::format("{}, ", buffer.extent(d));
  if (buffer.rank() > 1) shape.resize(shape.size() - 2);
  if (buffer.rank() == 1) shape.resize(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   kind_of(buffer.type()), shape);
  // NumPy aligns the data to 64 bytes and ends the header with a newline.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(static_cast<const char*>(buffer.data()), buffer.elements() * buffer.type().bytes());
  write_file(path, bytes);
}

}  // namespace calotype::cli
