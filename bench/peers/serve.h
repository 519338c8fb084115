#pragma once
// One side of a comparison: a program that does as its standard input says and answers a line for each thing
// done, so that a driver can have two of them work in turn. C++17, no library: it is compiled into every
// peer.
//
//   PROGRAM TYPE SCHEDULE[:KNOB=VALUE,...] NAME=SIZE,... [INPUT FILE]...
//
//   about       one line: library, version, processor features
//   run N       N calls, each answered with its seconds
//   compile N   N times from Pipeline to machine code, each answered with its seconds
//   write FILE  the bytes of the last output, answered "written"
//   quit

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

/// What to compute and on what, as the command line says.
struct Job {
  std::string type;                  ///< "u8", "f32"
  std::string schedule;              ///< by name, one of those that the program has for the operator
  std::map<std::string, int> knobs;  ///< of the schedule, where they are not to be its own
  std::map<std::string, int> sizes;  ///< by the names of the operator's Dims
  std::vector<std::string> files;    ///< inputs as raw bytes, dimension 0 innermost

  int knob(const std::string& name, int own) const {
    const auto found = knobs.find(name);
    return found == knobs.end() ? own : found->second;
  }
  int size(const std::string& name) const {
    const auto found = sizes.find(name);
    if (found == sizes.end()) throw std::runtime_error("no size " + name + " was given");
    return found->second;
  }
};

/// NAME=NUMBER,... into `to`.
inline void parse_numbers(const std::string& text, std::map<std::string, int>& to) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t at = item.find('=');
    if (at == std::string::npos) throw std::runtime_error("not NAME=NUMBER: " + item);
    to[item.substr(0, at)] = std::stoi(item.substr(at + 1));
  }
}

/// The command line from argument `first` on.
inline Job parse_job(int argc, char** argv, int first) {
  if (argc < first + 3)
    throw std::runtime_error("usage: PROGRAM TYPE SCHEDULE NAME=SIZE,... [INPUT FILE]...");
  Job job;
  job.type = argv[first];
  job.schedule = argv[first + 1];
  if (const std::size_t at = job.schedule.find(':'); at != std::string::npos) {
    parse_numbers(job.schedule.substr(at + 1), job.knobs);
    job.schedule.resize(at);
  }
  parse_numbers(argv[first + 2], job.sizes);
  job.files.assign(argv + first + 3, argv + argc);
  return job;
}

inline void read_bytes(const std::string& path, void* to, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(file.gcount()) != bytes || file.peek() != std::ifstream::traits_type::eof())
    throw std::runtime_error(path + " does not have " + std::to_string(bytes) + " bytes");
}

inline void write_bytes(const std::string& path, const void* from, std::size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// What a program can do. `compile` is empty where there is nothing to compile.
struct Side {
  std::string about;
  std::function<void()> run;
  std::function<void()> compile;
  std::function<void(const std::string& path)> write;
};

inline void answer_seconds(const std::function<void()>& work, int times) {
  if (!work) throw std::runtime_error("there is nothing of that kind to do");
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9f\n", seconds.count());
  }
}

/// Serves standard input until "quit" or its end.
inline void serve(const Side& side) {
  std::string command;
  while (std::cin >> command && command != "quit") {
    int times = 0;
    std::string path;
    if (command == "about") {
      std::printf("%s\n", side.about.c_str());
    } else if (command == "run" && std::cin >> times) {
      answer_seconds(side.run, times);
    } else if (command == "compile" && std::cin >> times) {
      answer_seconds(side.compile, times);
    } else if (command == "write" && std::cin >> path) {
      side.write(path);
      std::puts("written");
    } else {
      throw std::runtime_error("not a command: " + command);
    }
    std::fflush(stdout);
  }
}

/// The whole of a peer's main(): makes the side and serves; a failure is one line on standard error and exit
/// code 1.
inline int serve_or_fail(const std::function<Side()>& make) {
  try {
    serve(make());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace peers
