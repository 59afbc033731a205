// Reads the files of control groups, version 1 and 2 (see cgroup.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/cgroup.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "acl/settings/configuration_file.h"

namespace portacl {
namespace {

// Reads the first line of a file; returns false if it cannot be read.
bool ReadLine(const std::string& path, std::string& line) {
  line.clear();
  if (!ReadFile(path.c_str(), line)) return false;
  line.resize(std::min(line.find('\n'), line.size()));
  return true;
}

// Returns the number at the beginning of a text; 0 if there is none, or it is negative.
long long NumberAt(const std::string& text) {
  long long value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? std::max(0LL, value) : 0;
}

// Calls visit(folder, is_v2) for each cgroup with this controller, from this process's up to the root.
template <class Visit>
void ForEachCgroup(const std::string& controller, Visit visit) {
  std::string groups;
  if (!ReadFile("/proc/self/cgroup", groups)) return;
  for (size_t begin = 0; begin < groups.size();) {
    const size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_v2 = controllers.empty();
    if (!is_v2 && ("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
    const std::string root = is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    // Inside a container the path of /proc may not exist below the mount; the loop then ends at the mount's
    // root.
    for (std::string path = line.substr(second + 1);; path = path.substr(0, path.rfind('/'))) {
      if (path == "/") path.clear();
      visit(root + path, is_v2);
      if (path.empty()) break;
    }
  }
}

template <class Value>
void KeepSmallest(Value& smallest, Value value) {
  if (value > 0 && (smallest == 0 || value < smallest)) smallest = value;
}

}  // namespace

int CgroupCpus(int most) {
  int smallest = 0;
  ForEachCgroup("cpu", [&](const std::string& folder, bool is_v2) {
    std::string quota;
    std::string period;
    if (is_v2) {
      if (!ReadLine(folder + "/cpu.max", quota)) return;
      const size_t space = quota.find(' ');
      if (space != std::string::npos) period = quota.substr(space + 1);
    } else if (!ReadLine(folder + "/cpu.cfs_quota_us", quota) ||
               !ReadLine(folder + "/cpu.cfs_period_us", period)) {
      return;
    }
    const long long time = NumberAt(quota);
    const long long of = NumberAt(period);
    if (time > 0 && of > 0) {
      KeepSmallest(smallest,
                   static_cast<int>(std::clamp((time + of - 1) / of, 1LL, static_cast<long long>(most))));
    }
  });
  return smallest;
}

size_t CgroupMemory() {
  size_t smallest = 0;
  ForEachCgroup("memory", [&](const std::string& folder, bool is_v2) {
    std::string limit;
    if (ReadLine(folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes"), limit)) {
      KeepSmallest(smallest, static_cast<size_t>(NumberAt(limit)));
    }
  });
  return smallest;
}

}  // namespace portacl
