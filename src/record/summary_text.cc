// Summaries as text, and the functions that the library of summaries exports (see summary.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "record/summary.h"

namespace portacl::record {

namespace {

char* Put(char* to, const char* text) {
  const std::size_t size = std::strlen(text);
  std::memcpy(to, text, size);
  return to + size;
}

template <typename Whole>
char* PutWhole(char* to, Whole value) {
  return std::to_chars(to, to + 24, value).ptr;
}

// Writes nothing for 0.
char* PutNumber(char* to, const char* name, std::uint64_t value) {
  return value == 0 ? to : PutWhole(Put(to, name), value);
}

// Writes as many digits as distinguish numbers of the kind.
char* PutReal(char* to, double value, bool is_double) {
  return is_double ? std::to_chars(to, to + 32, value, std::chars_format::scientific).ptr
                   : std::to_chars(to, to + 32, value, std::chars_format::scientific, 8).ptr;
}

char* PutExtreme(char* to, const Summary& summary, std::int32_t kind, bool least) {
  if (kind >= kFloat16) {
    return PutReal(to, least ? summary.minimum : summary.maximum, kind == kFloat64);
  }
  const std::int64_t whole = least ? summary.least : summary.greatest;
  return kind == kUint64 ? PutWhole(to, static_cast<std::uint64_t>(whole)) : PutWhole(to, whole);
}

}  // namespace

std::size_t SummariseAsText(const void* elements, std::uint64_t count, std::int32_t kind, char* text,
                            const Layout* layout) noexcept {
  Summary summary;
  if (kind == kBytesAlone || !Summarise(elements, count, kind, summary, layout)) {
    return 0;
  }
  const double largest = std::max(std::abs(summary.minimum), std::abs(summary.maximum));
  if (!std::isfinite(summary.sum) || !std::isfinite(summary.squares) ||
      (summary.squares < 1e-280 && largest > 0)) {
    return 0;  // the sums overflow double
  }
  char* to = Put(text, "xxh64:");
  for (int shift = 60; shift >= 0; shift -= 4) {
    *to++ = "0123456789abcdef"[(summary.hash >> shift) & 15];
  }
  to = PutWhole(Put(to, "{\"count\":"), count);
  to = PutNumber(to, ",\"nan\":", summary.nans);
  to = PutNumber(to, ",\"inf\":", summary.infinities);
  to = PutNumber(to, ",\"zeros\":", summary.zeros);
  if (summary.count > 0) {
    to = PutExtreme(Put(to, ",\"min\":"), summary, kind, true);
    to = PutExtreme(Put(to, ",\"max\":"), summary, kind, false);
    to = PutReal(Put(to, ",\"mean\":"), summary.sum / static_cast<double>(summary.count), false);
    to = PutReal(Put(to, ",\"norm\":"), std::sqrt(summary.squares), false);
  }
  to = Put(to, "}");
  return static_cast<std::size_t>(to - text);
}

}  // namespace portacl::record

// The functions that python/portacl/recording/_summary.py calls.
extern "C" {

__attribute__((visibility("default"))) int PortaclSummarise(const void* elements, std::uint64_t count,
                                                            std::int32_t kind,
                                                            portacl::record::Summary* summary) {
  return portacl::record::Summarise(elements, count, kind, *summary) ? 0 : 1;
}

__attribute__((visibility("default"))) std::size_t PortaclSummariseAsText(const void* elements,
                                                                          std::uint64_t count,
                                                                          std::int32_t kind, char* text) {
  return portacl::record::SummariseAsText(elements, count, kind, text);
}

// Summarises a view. `dims` has the lengths of all dims, then the strides in elements.
__attribute__((visibility("default"))) std::size_t PortaclSummariseViewAsText(
    const void* first, std::uint64_t count, std::int32_t kind, std::uint64_t item_size, std::uint64_t rank,
    const std::int64_t* dims, char* text) {
  if (rank == 0 || rank > portacl::record::kMostDims) return 0;
  const portacl::record::Layout layout{rank, dims, dims + rank, item_size};
  return portacl::record::SummariseAsText(first, count, kind, text, &layout);
}
}
