// The bytes of frames (see frames.h).
// SPDX-License-Identifier: Apache-2.0
#include "record/frames.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

namespace portacl::record {
namespace {

// zlib's functions, as its header declares them.
using Compress2 = int (*)(unsigned char* to, unsigned long* to_size, const unsigned char* from,
                          unsigned long from_size, int level);
using CompressBound = unsigned long (*)(unsigned long size);
using Checksum = unsigned long (*)(unsigned long sum, const unsigned char* from, unsigned size);

Compress2 compress = nullptr;
CompressBound bound = nullptr;
Checksum crc32_of_zlib = nullptr;

constexpr int kLevel = 1;
constexpr size_t kTried = 1 << 16;     // bytes that are compressed to find out whether it pays
constexpr size_t kMostStored = 65535;  // in a block of the format
constexpr size_t kMostAtOnce = size_t{1} << 30;

constexpr std::array<uint32_t, 256> kCrcOfByte = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320 : 0);
    table[i] = value;
  }
  return table;
}();

uint32_t Crc32(std::string_view bytes) noexcept {
  if (crc32_of_zlib != nullptr) {
    unsigned long sum = 0;
    while (!bytes.empty()) {
      const size_t size = std::min(bytes.size(), kMostAtOnce);
      sum = crc32_of_zlib(sum, reinterpret_cast<const unsigned char*>(bytes.data()),
                          static_cast<unsigned>(size));
      bytes.remove_prefix(size);
    }
    return static_cast<uint32_t>(sum);
  }
  uint32_t sum = ~uint32_t{0};
  for (const char byte : bytes) {
    sum = sum >> 8 ^ kCrcOfByte[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~sum;
}

uint32_t Adler32(std::string_view bytes) noexcept {
  constexpr uint32_t kPrime = 65521;
  uint32_t a = 1;
  uint32_t b = 0;
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), 5552);  // the most whose sums fit
    for (const char byte : bytes.substr(0, size)) {
      a += static_cast<unsigned char>(byte);
      b += a;
    }
    a %= kPrime;
    b %= kPrime;
    bytes.remove_prefix(size);
  }
  return b << 16 | a;
}

void AddNumber(std::string& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> 8 * i & 0xff));
}

// Appends in zlib's format without compression.
void AddStored(std::string& to, std::string_view content) {
  to.reserve(to.size() + content.size() + 5 * (content.size() / kMostStored + 1) + 6);
  to += "\x78\x01";
  std::string_view rest = content;
  do {
    const size_t size = std::min(rest.size(), kMostStored);
    to.push_back(size == rest.size() ? '\1' : '\0');
    AddNumber(to, size, 2);
    AddNumber(to, size ^ 0xffff, 2);
    to += rest.substr(0, size);
    rest.remove_prefix(size);
  } while (!rest.empty());
  const uint32_t sum = Adler32(content);
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(sum >> shift & 0xff));
}

// Appends the content compressed. Returns false if it cannot be compressed; `to` is then unchanged.
bool AddCompressed(std::string& to, std::string_view content) {
  if (compress == nullptr) return false;
  const size_t before = to.size();
  unsigned long size = bound(content.size());
  to.resize(before + size);
  if (compress(reinterpret_cast<unsigned char*>(to.data() + before), &size,
               reinterpret_cast<const unsigned char*>(content.data()), content.size(), kLevel) != 0) {
    to.resize(before);
    return false;
  }
  to.resize(before + size);
  return true;
}

// Tests the beginning, since random data does not shrink.
bool Shrinks(std::string_view content) {
  const std::string_view start = content.substr(0, kTried);
  std::string tried;
  return AddCompressed(tried, start) && tried.size() * 10 < start.size() * 9;
}

std::string Begin(std::string_view kind) {
  std::string frame(kind);
  frame.append(12, '\0');  // filled in by End
  return frame;
}

std::string End(std::string frame) {
  const std::string_view payload = std::string_view(frame).substr(16);
  std::string numbers;
  AddNumber(numbers, payload.size(), 8);
  AddNumber(numbers, Crc32(payload), 4);
  std::memcpy(frame.data() + 4, numbers.data(), numbers.size());
  return frame;
}

}  // namespace

void PrepareCompression() noexcept {
  void* const library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  const auto found = reinterpret_cast<Compress2>(dlsym(library, "compress2"));
  bound = reinterpret_cast<CompressBound>(dlsym(library, "compressBound"));
  crc32_of_zlib = reinterpret_cast<Checksum>(dlsym(library, "crc32"));
  if (found != nullptr && bound != nullptr) compress = found;
}

std::string JsonFrame(std::string_view kind, std::string_view json, std::size_t stored) {
  std::string frame = Begin(kind);
  if (json.size() <= stored || !AddCompressed(frame, json)) AddStored(frame, json);
  return End(std::move(frame));
}

std::string DataFrame(const ContentHash& hash, std::string_view content) {
  std::string frame = Begin("DATA");
  frame.append(reinterpret_cast<const char*>(hash.data()), hash.size());
  if (!Shrinks(content) || !AddCompressed(frame, content)) AddStored(frame, content);
  return End(std::move(frame));
}

std::string HexOf(const ContentHash& hash) {
  std::string text;
  for (const unsigned char byte : hash) {
    text.push_back("0123456789abcdef"[byte >> 4]);
    text.push_back("0123456789abcdef"[byte & 15]);
  }
  return text;
}

std::string Base64Of(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text.push_back(k <= count ? kDigits[word >> (18 - 6 * k) & 63] : '=');
  }
  return text;
}

std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace portacl::record
