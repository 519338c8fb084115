#pragma once
// What must hold of any bytes: functions that a fuzzer calls with them, and that throw std::logic_error where
// it does not hold.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace calotype::fuzz {

/// Schedule files: the bytes are refused with an Error that is no fault of the library, or read; what was
/// read is written, read again and written with the same bytes, and checked against a pipeline.
void try_schedule_file(const std::uint8_t* data, std::size_t size);

/// The simplifier: the bytes are an integer expression over a few symbols. What it becomes has its value at
/// points where the facts hold, its constant bounds hold that value, and what is proved is so.
void try_simplifier(const std::uint8_t* data, std::size_t size);

/// Files of a folder, sorted, with their bytes.
std::vector<std::pair<std::string, std::string>> byte_files(const std::string& folder);

}  // namespace calotype::fuzz
