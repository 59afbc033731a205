// Runs programs that are kept in files, with any compiler: those of the folders that the command line names.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "program.h"

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
    } else {
      files.emplace_back(argv[i]);
    }
  }
  std::sort(files.begin(), files.end());
  portacl::testing::ProgramCounts all;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::fprintf(stderr, "%s\n", file.filename().c_str());
    const auto counts =
        portacl::testing::RunProgram(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    all.planned += counts.planned;
    all.accepted += counts.accepted;
    all.started += counts.started;
    all.done += counts.done;
  }
  std::printf("%zu programs; phase 1: %lld of %lld accepted, phase 2: %lld of %lld\n", files.size(),
              static_cast<long long>(all.accepted), static_cast<long long>(all.planned),
              static_cast<long long>(all.done), static_cast<long long>(all.started));
  return all.done > 0 ? 0 : 1;
}
