// portacl_bench: how close every operator comes to what memory allows, case by case, both in the same run.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "cases.h"
#include "ceiling.h"
#include "comparisons.h"
#include "loss_calls.h"

namespace portacl::bench {
namespace {

int AllThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

// One line a case as it comes, with how far the run is.
class Table : public benchmark::BenchmarkReporter {
 public:
  explicit Table(size_t cases) : cases_(cases) {}

  bool ReportContext(const Context&) override {
    std::printf("%11s  %-56s %7s %14s %11s %8s %8s\n", "case", "operator/dtype/layout/elements/threads",
                "ratio", "p10..p90", "ns/element", "GB/s", "ceiling");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      ++done_;
      std::printf("%5zu/%-5zu  ", done_, cases_);
      std::string name = run.benchmark_name();
      name = name.substr(0, name.find("/iterations"));
      if (run.error_occurred) {
        std::printf("%-56s failed: %s\n", name.c_str(), run.error_message.c_str());
        failed_ = true;
        continue;
      }
      const auto has = [&](const char* counter) { return run.counters.count(counter) > 0; };
      const auto value = [&](const char* counter) { return run.counters.at(counter).value; };
      std::printf("%-56s", name.c_str());
      if (has("ratio"))
        std::printf(" %6.2fx (%5.2f..%5.2f)", value("ratio"), value("ratio_p10"), value("ratio_p90"));
      if (has("ns_per_element")) std::printf(" %11.4g", value("ns_per_element"));
      if (has("gigabytes_per_second"))
        std::printf(" %8.1f %8.1f", value("gigabytes_per_second"), value("ceiling_gigabytes_per_second"));
      if (has("own_in_cache_ratio"))
        std::printf("  of its own rate in cache %.2f", value("own_in_cache_ratio"));
      if (has("limit_of_ceiling")) {
        std::printf("  of the ceiling: loop %.2f (%.2f..%.2f), library %.2f; %s", value("limit_of_ceiling"),
                    value("limit_of_ceiling_p10"), value("limit_of_ceiling_p90"), value("library_of_ceiling"),
                    run.report_label.c_str());
      }
      if (has("mebibytes")) std::printf(" %6.2f MiB", value("mebibytes"));
      std::printf("\n");
      std::fflush(stdout);
    }
  }

  bool failed() const { return failed_; }

 private:
  size_t cases_;
  size_t done_ = 0;
  bool failed_ = false;
};

int Main(int argc, char** argv) {
  bool quick = false;
  bool whole = false;
  bool blocking = false;
  bool table_only = false;
  bool limits = false;
  size_t part = 1;
  size_t parts = 1;
  double minutes = 15;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--whole") == 0) {
      whole = true;
    } else if (std::strcmp(argv[i], "--table") == 0) {
      table_only = true;
    } else if (std::strcmp(argv[i], "--limits") == 0) {
      limits = true;
    } else if (std::sscanf(argv[i], "--part=%zu/%zu", &part, &parts) == 2) {
      if (part < 1 || part > parts) {
        std::fprintf(stderr, "%s: the first part is 1, the last is the number of parts\n", argv[i]);
        return 2;
      }
    } else if (std::strcmp(argv[i], "--blocking") == 0) {
      blocking = true;
    } else if (std::strncmp(argv[i], "--minutes=", 10) == 0) {
      minutes = std::atof(argv[i] + 10);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  if (quick) minutes = std::min(minutes, 0.7);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("ceiling_instruction_set", CeilingInstructionSet());
  benchmark::AddCustomContext("all_threads", std::to_string(AllThreads()));

  std::string filter = benchmark::GetBenchmarkFilter();
  if (filter == "all") filter.clear();
  const std::regex wanted(filter);
  std::vector<Measurement> chosen;
  double least = 0;
  for (const Measurement& one : limits ? AllLimits(AllThreads()) : AllMeasurements(AllThreads())) {
    if (quick && !one.is_quick) continue;
    if (table_only && !one.is_in_table) continue;
    if (!whole && !one.is_usual) continue;
    if (!std::regex_search(one.name, wanted)) continue;
    chosen.push_back(one);
    least += one.least_seconds;
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "no case has a name that matches %s\n", filter.c_str());
    return 1;
  }
  // Parts of a long run, for machines that are not to be had for long: cases that follow each other share data.
  const double before = least * static_cast<double>(part - 1) / static_cast<double>(parts);
  const double until = least * static_cast<double>(part) / static_cast<double>(parts);
  double passed = 0;
  std::erase_if(chosen, [&](const Measurement& one) {
    const double begin = passed;
    passed += one.least_seconds;
    return begin < before || begin >= until;
  });
  // With few cases each gets more time, up to ten times the least.
  const double patience = std::clamp(minutes * 60 / least, 0.5, 10.0);
  Rig rig;
  rig.always_blocking = blocking;
  for (const Measurement& one : chosen) {
    const auto run = [&rig, &one, patience](benchmark::State& state) {
      try {
        const Figures figures = one.measure(rig, patience);
        if (!figures.label.empty()) state.SetLabel(figures.label);
        for (const auto& [name, value] : figures.counters) state.counters[name] = value;
        for (auto _ : state) state.SetIterationTime(figures.seconds);
      } catch (const std::exception& problem) {
        state.SkipWithError(problem.what());
        for (auto _ : state) {
        }
      }
    };
    benchmark::RegisterBenchmark(one.name.c_str(), run)->UseManualTime()->Iterations(1);
  }
  std::fprintf(stderr, "%zu cases, about %.0f seconds\n", chosen.size(),
               least / static_cast<double>(parts) * patience * 1.2);
  Table table(chosen.size());
  benchmark::RunSpecifiedBenchmarks(&table, "all");  // theirs have suffixes
  benchmark::Shutdown();
  return table.failed() ? 1 : 0;
}

}  // namespace
}  // namespace portacl::bench

int main(int argc, char** argv) { return portacl::bench::Main(argc, argv); }
