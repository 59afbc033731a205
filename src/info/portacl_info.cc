// portacl-info: prints the table of operators, products and dtypes for people who port programs, and the
// settings in effect on this machine.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/settings/configuration.h"
#include "aclnnop/operator_info.h"
#include "base/data_type.h"
#include "engine/functions/sleef.h"
#include "engine/functions/sleef_file.h"
#include "engine/gemm/byte_kernel.h"
#include "engine/gemm/tile_kernel.h"
#include "hccl/communicator.h"

namespace {

using namespace portacl;

constexpr const char* kUsage =
    "usage: portacl-info [--json]\n"
    "Prints version, emulated CANN version, product, instruction set and threads in force (PORTACL_SOC, "
    "PORTACL_ISA,\n"
    "PORTACL_NUM_THREADS), the libraries that are loaded when needed, and for each operator and product the\n"
    "dtypes that CANN documents and those that it accepts.\n";

std::vector<std::string> Names(DtypeSet dtypes) {
  std::vector<std::string> names;
  for (int number = 0; number < 64; ++number) {
    const auto dtype = static_cast<aclDataType>(number);
    if (!dtypes.Contains(dtype)) continue;
    Text text;
    AddDtypeName(text, dtype);
    names.emplace_back(text.view().substr(std::strlen("DT_")));
  }
  return names;
}

std::string Cell(DtypeSet dtypes) {
  std::string cell;
  for (const std::string& name : Names(dtypes)) cell += (cell.empty() ? "" : " ") + name;
  return cell.empty() ? "-" : cell;
}

// Returns the width of the column "documented".
int WidestDocumented() {
  size_t width = std::strlen("documented");
  for (const OperatorInfo& info : AllOperators()) {
    for (const SocProfile& profile : SocProfiles()) {
      width = std::max(width, Cell(info.documented.For(profile.product)).size());
    }
  }
  return static_cast<int>(width);
}

// Returns the product lines, without the row for threads that have no device.
std::span<const SocProfile> Products() { return SocProfiles().first(kProductCount - 1); }

std::string SocNames(const SocProfile& profile) {
  std::string names;
  for (const char* name : profile.names) names += std::string(names.empty() ? "" : " ") + name;
  for (const char* prefix : profile.prefixes) names += std::string(names.empty() ? "" : " ") + prefix + "*";
  return names;
}

// A library that is loaded on first use: its file, or the reason why it is missing.
struct Loaded {
  std::string file;
  std::string why;
};
std::string Plain(const std::string& file) {
  return file.empty() ? file : std::filesystem::weakly_canonical(file).string();
}
Loaded Sleef(Isa isa) {
  const std::string why = engine::WhySleefIsMissing(isa);
  return {why.empty() ? Plain(engine::SleefFile()) : "", why};
}
Loaded Gloo() {
  std::string why;
  const std::string file = Plain(hccl::TransportFile(&why));
  return {file, why};
}

nlohmann::ordered_json AsJson(const Loaded& library) {
  nlohmann::ordered_json json;
  json["file"] = library.file.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(library.file);
  if (library.file.empty()) json["why"] = library.why;
  return json;
}
std::string AsText(const Loaded& library, const char* whose) {
  return library.file.empty() ? "none: " + library.why : library.file + whose;
}

// Returns the kernels that multiply pairs of BF16 on this machine, by the names of PORTACL_ISA.
std::vector<const engine::TileKernels*> AllPairs() {
  std::vector<const engine::TileKernels*> all;
  for (const engine::TileKernels* one : {engine::FindDotKernels(), engine::FindAmxKernels()})
    if (one != nullptr) all.push_back(one);
  return all;
}

// Returns the kernels that multiply INT8 in products of many rows.
const engine::ByteKernels* WordsOfInt8(const Configuration& configuration) {
  constexpr int64_t kManyRows = 1024;
  return engine::ByteKernelsInUse(configuration.isa, kManyRows);
}

void PrintJson(const Configuration& configuration) {
  nlohmann::ordered_json json;
  json["version"] = PORTACL_VERSION;
  json["emulated_cann_version"] = kEmulatedCannVersion;
  json["soc"] = configuration.soc_name;
  json["product"] = configuration.soc->line;
  json["isa"] = IsaName(configuration.isa);
  for (Isa isa : SupportedIsas()) json["isas"].push_back(IsaName(isa));
  json["pairs_of_bf16"] = nlohmann::ordered_json();
  if (const auto* pairs = engine::TileKernelsInUse(configuration.isa)) json["pairs_of_bf16"] = pairs->name;
  json["all_pairs_of_bf16"] = nlohmann::ordered_json::array();
  for (const auto* pairs : AllPairs()) json["all_pairs_of_bf16"].push_back(pairs->name);
  json["words_of_int8"] = nlohmann::ordered_json();
  if (const auto* words = WordsOfInt8(configuration)) json["words_of_int8"] = words->name;
  json["threads"] = configuration.num_threads;
  json["devices"] = configuration.device_count();
  json["sleef"] = AsJson(Sleef(configuration.isa));
  json["gloo"] = AsJson(Gloo());
  for (const SocProfile& profile : Products()) {
    nlohmann::ordered_json product;
    product["line"] = profile.line;
    product["short_name"] = profile.short_name;
    product["soc_names"] = nlohmann::ordered_json::array();
    for (const char* name : profile.names) product["soc_names"].push_back(name);
    for (const char* prefix : profile.prefixes) product["soc_names"].push_back(std::string(prefix) + "*");
    json["products"].push_back(product);
  }
  for (const OperatorInfo& info : AllOperators()) {
    nlohmann::ordered_json one;
    one["name"] = info.name;
    one["header"] = info.header;
    one["dtypes_of"] = info.DtypesOf();
    for (const SocProfile& profile : Products()) {
      one["documented"][profile.line] = Names(info.documented.For(profile.product));
      one["accepted"][profile.line] = Names(info.accepted.For(profile.product));
    }
    json["operators"].push_back(one);
  }
  std::printf("%s\n", json.dump(2).c_str());
}

void PrintText(const Configuration& configuration) {
  std::string isas;
  for (Isa isa : SupportedIsas()) isas += std::string(isas.empty() ? "" : " ") + IsaName(isa);
  std::printf("portacl %s, emulating CANN %.*s\n", PORTACL_VERSION,
              static_cast<int>(kEmulatedCannVersion.size()), kEmulatedCannVersion.data());
  std::printf("product          %s (%s)\n", configuration.soc->line, configuration.soc_name);
  std::printf("instruction set  %s (of: %s)\n", IsaName(configuration.isa), isas.c_str());
  const engine::TileKernels* const pairs = engine::TileKernelsInUse(configuration.isa);
  std::string all_pairs;
  for (const auto* one : AllPairs()) all_pairs += std::string(all_pairs.empty() ? "" : " ") + one->name;
  std::printf("pairs of BF16    %s (of: %s)\n", pairs == nullptr ? "none" : pairs->name,
              all_pairs.empty() ? "none" : all_pairs.c_str());
  const engine::ByteKernels* const words = WordsOfInt8(configuration);
  std::printf("words of INT8    %s\n", words == nullptr ? "none" : words->name);
  std::printf("threads          %d\ndevices          %d\n", configuration.num_threads,
              configuration.device_count());
  const char* const whose = engine::SleefIsNative() ? "" : " (this system's)";
  std::printf("SLEEF            %s\n", AsText(Sleef(configuration.isa), whose).c_str());
  std::printf("Gloo             %s\n\n", AsText(Gloo(), "").c_str());
  std::printf("%-19s %s\n", "product", "values of PORTACL_SOC");
  for (const SocProfile& profile : Products())
    std::printf("%-19s %s\n", profile.line, SocNames(profile).c_str());
  const int width = WidestDocumented();
  for (const OperatorInfo& info : AllOperators()) {
    std::printf("\n%s (%s), dtypes of %s\n", info.name, info.header, info.DtypesOf());
    std::printf("  %-19s %-*s  %s\n", "product", width, "documented", "accepted");
    for (const SocProfile& profile : Products()) {
      const DtypeSet documented = info.documented.For(profile.product);
      const DtypeSet accepted = info.accepted.For(profile.product);
      std::printf("  %-19s %-*s  %s%s\n", profile.line, width, Cell(documented).c_str(),
                  Cell(accepted).c_str(), documented == accepted ? "" : "   (differs)");
    }
  }
}

int Main(int argc, char** argv) {
  const bool json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !json) {
    const bool help = argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0);
    std::fputs(kUsage, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  if (const aclError status = aclInit(nullptr)) {
    const char* message = aclGetRecentErrMsg();
    std::fprintf(stderr, "portacl-info: aclInit returned %d\n%s", status, message == nullptr ? "" : message);
    return 1;
  }
  if (json) {
    PrintJson(CurrentConfiguration());
  } else {
    PrintText(CurrentConfiguration());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "portacl-info: %s\n", error.what());
    return 1;
  }
}
