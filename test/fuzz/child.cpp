// Work in a process of its own.
#include "fuzz/child.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace calotype::fuzz {

namespace {

/// Seconds that may pass for one of the processor: others may use it too, but nothing may wait for ever.
constexpr unsigned kPatience = 20;

void write_all(int fd, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(fd, bytes, size);
    if (n <= 0) _exit(3);  // the parent is gone
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
}

bool read_all(int fd, void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = read(fd, bytes, size);
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_message(int fd, std::string& message) {
  std::uint32_t size = 0;
  if (!read_all(fd, &size, sizeof size)) return false;
  message.resize(size);
  return read_all(fd, message.data(), size);
}

[[noreturn]] void run_child(int fd, const std::function<void(const Say&)>& work) {
  try {
    work([fd](const std::string& message) {
      const auto size = static_cast<std::uint32_t>(message.size());
      write_all(fd, &size, sizeof size);
      write_all(fd, message.data(), message.size());
    });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "a child of the fuzzer: %s\n", e.what());
    _exit(2);
  }
  _exit(0);
}

Ending ending_of(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {true, ""};
  if (!WIFSIGNALED(status)) return {false, fmt::format("exit {}", WEXITSTATUS(status))};
  const int signal = WTERMSIG(status);
  if (signal == SIGALRM || signal == SIGPROF) return {false, "no end in the time allowed"};
  return {false, fmt::format("signal {} ({})", signal, strsignal(signal))};
}

}  // namespace

void allow_seconds(unsigned seconds) {
  itimerval of_processor{};
  of_processor.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &of_processor, nullptr);
  alarm(kPatience * seconds);
}

Ending in_child(const std::function<void(const Say&)>& work,
                const std::function<void(const std::string&)>& hear) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to a child of the fuzzer");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child of the fuzzer could be started");
  if (child == 0) {
    close(ends[0]);
    run_child(ends[1], work);
  }
  close(ends[1]);
  for (std::string message; read_message(ends[0], message);) hear(message);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return ending_of(status);
}

}  // namespace calotype::fuzz
