// Runs programs that are kept in files, with any compiler, and programs drawn from those.
// Usage: fuzz_corpus [--draw COUNT SEED KEPT] FILE-OR-FOLDER...
// With --draw so many programs are drawn, the same ones for the same seed; each is written to the file KEPT before it runs.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "program.h"

namespace {

using portacl::testing::ProgramCounts;

constexpr size_t kLongest = 1500;

std::string Read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void Run(const std::string& program, ProgramCounts& all) {
  const ProgramCounts counts =
      portacl::testing::RunProgram(reinterpret_cast<const uint8_t*>(program.data()), program.size());
  all.planned += counts.planned;
  all.accepted += counts.accepted;
  all.started += counts.started;
  all.done += counts.done;
}

// Parts of programs one behind the other, with some bytes changed: what a fuzzer does, without a look at what was covered.
class Draw {
 public:
  Draw(const std::vector<std::string>& programs, uint64_t seed) : programs_(programs), bits_(seed) {}

  std::string operator()() {
    std::string drawn;
    const size_t parts = 1 + Below(3);
    for (size_t part = 0; part < parts; ++part) {
      const std::string& whole = programs_[Below(programs_.size())];
      const size_t first = part == 0 ? 0 : Below(whole.size() + 1);
      drawn += whole.substr(first, 1 + Below(whole.size()));
    }
    drawn.resize(std::min(drawn.size(), kLongest));
    for (size_t changes = Below(8); changes > 0; --changes) {
      if (drawn.empty()) break;
      drawn[Below(drawn.size())] = static_cast<char>(Below(256));
    }
    const size_t random = Below(4) == 0 ? Below(kLongest - drawn.size() + 1) : 0;
    for (size_t i = 0; i < random; ++i) drawn += static_cast<char>(Below(256));
    return drawn;
  }

 private:
  // The same on every machine, as the library's distributions are not.
  size_t Below(size_t bound) { return bound == 0 ? 0 : static_cast<size_t>(bits_() % bound); }

  const std::vector<std::string>& programs_;
  std::mt19937_64 bits_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool draws = argc > 4 && std::string(argv[1]) == "--draw";
  std::vector<std::filesystem::path> files;
  for (int i = draws ? 5 : 1; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> programs;
  for (const std::filesystem::path& file : files) programs.push_back(Read(file));
  ProgramCounts all;
  size_t count = programs.size();
  if (draws) {
    count = std::strtoull(argv[2], nullptr, 10);
    Draw draw(programs, std::strtoull(argv[3], nullptr, 10));
    for (size_t i = 0; i < count; ++i) {
      const std::string program = draw();
      std::ofstream(argv[4], std::ios::binary) << program;
      Run(program, all);
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      std::fprintf(stderr, "%s\n", files[i].filename().c_str());
      Run(programs[i], all);
    }
  }
  std::printf("%zu programs; phase 1: %lld of %lld accepted, phase 2: %lld of %lld\n", count,
              static_cast<long long>(all.accepted), static_cast<long long>(all.planned),
              static_cast<long long>(all.done), static_cast<long long>(all.started));
  return all.done > 0 ? 0 : 1;
}
