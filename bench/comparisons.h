// What is measured about a case: its share of the ceiling, what a second thread gives, what memory it takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "ceiling.h"
#include "ready_call.h"

namespace portacl::bench {

// What measurements share, so that memory is not filled again and threads are not started again for each.
struct Rig {
  bool always_blocking = false;
  Library portacl;
  Storage storage;
  std::map<int, std::unique_ptr<Team>> teams;

  Team& TeamOf(int threads);

  // Starts the library as the case wants it. What takes milliseconds is computed on the calling thread: handing
  // it over costs nothing beside that, but on another processor of a shared machine it would be compared with a
  // loop on this one.
  void StartFor(const Case& c);
};

struct Figures {
  std::map<std::string, double> counters;
  double seconds = 0;  // of one call
  std::string label;   // which loop was the best
};

struct Measurement {
  std::string name;
  bool is_quick;
  bool is_usual;
  bool is_in_table;
  double least_seconds;
  std::function<Figures(Rig& rig, double patience)> measure;
};

std::vector<Measurement> AllMeasurements(int all_threads);

// Library, the fastest hand-written loops of the same access patterns and the ceiling, in turn (see limit_loops.h).
std::vector<Measurement> AllLimits(int all_threads);

}  // namespace portacl::bench
