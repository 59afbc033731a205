// The environment's settings for collectives (see hccl_settings.h). They are read at every use; nothing is
// cached.
// SPDX-License-Identifier: Apache-2.0
#include "hccl/hccl_settings.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace portacl::hccl {
namespace {

bool Parse(std::string_view text, long* value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

const char* Variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

Fault BadVariable(const char* name, std::string_view value, std::string_view accepted) noexcept {
  return {HCCL_E_PARA, Text("the variable ", name, " has the value ", value, ", accepted: ", accepted, ".")};
}

// Cuts off the first part of a list.
std::string_view NextPart(std::string_view& rest) noexcept {
  const size_t comma = rest.find(',');
  const std::string_view part = rest.substr(0, comma);
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return part;
}

// Tells whether a name matches CANN's `choice`: prefixes, after ^ excluded ones, after = whole names.
bool IsChosen(std::string_view name, std::string_view choice) noexcept {
  const bool excludes = choice.starts_with('^');
  if (excludes) choice.remove_prefix(1);
  const bool whole = choice.starts_with('=');
  if (whole) choice.remove_prefix(1);
  bool found = false;
  while (!choice.empty()) {
    const std::string_view part = NextPart(choice);
    if (!part.empty() && (whole ? name == part : name.starts_with(part))) found = true;
  }
  return found != excludes;
}

// Ranks interfaces: loopback and containers' bridges are the last choice.
int RankOf(const ifaddrs& one) noexcept {
  if ((one.ifa_flags & IFF_LOOPBACK) != 0) return 2;
  return std::string_view(one.ifa_name).starts_with("docker") ? 1 : 0;
}

}  // namespace

void HostAddress::SetPort(uint16_t port) noexcept {
  if (storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
  }
}

uint16_t HostAddress::port() const noexcept {
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                                             : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

void HostAddress::Describe() noexcept {
  if (storage.ss_family == AF_INET6) {
    const auto* const in6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof text);
    if (in6->sin6_scope_id != 0) {
      const size_t used = std::strlen(text);
      std::snprintf(text + used, sizeof text - used, "%%%u", in6->sin6_scope_id);
    }
  } else {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, text, sizeof text);
  }
}

Fault ConnectTimeout(int* seconds) noexcept {
  *seconds = 120;
  const char* const text = Variable("HCCL_CONNECT_TIMEOUT");
  if (text == nullptr) return {};
  long value = 0;
  if (!Parse(text, &value) || value < 1 || value > 7200) {
    return BadVariable("HCCL_CONNECT_TIMEOUT", text, "seconds from 1 to 7200");
  }
  *seconds = static_cast<int>(value);
  return {};
}

Fault ExecTimeout(int* seconds) noexcept {
  *seconds = 1836;
  const char* const text = Variable("HCCL_EXEC_TIMEOUT");
  if (text == nullptr) return {};
  long value = 0;
  if (!Parse(text, &value) || value > 2147483647) {
    return BadVariable("HCCL_EXEC_TIMEOUT", text, "seconds, 0 for no limit");
  }
  if (value >= 0) *seconds = static_cast<int>(value);
  return {};
}

Fault OwnAddress(HostAddress* address, bool* is_chosen) noexcept {
  *address = HostAddress();
  *is_chosen = true;
  if (const char* const ip = Variable("HCCL_IF_IP")) {
    auto* const in4 = reinterpret_cast<sockaddr_in*>(&address->storage);
    auto* const in6 = reinterpret_cast<sockaddr_in6*>(&address->storage);
    if (inet_pton(AF_INET, ip, &in4->sin_addr) == 1) {
      in4->sin_family = AF_INET;
      if (in4->sin_addr.s_addr == htonl(INADDR_ANY))
        return BadVariable("HCCL_IF_IP", ip, "the address of one interface");
    } else if (inet_pton(AF_INET6, ip, &in6->sin6_addr) == 1) {
      in6->sin6_family = AF_INET6;
      if (IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr))
        return BadVariable("HCCL_IF_IP", ip, "the address of one interface");
    } else {
      return BadVariable("HCCL_IF_IP", ip, "an IPv4 or IPv6 address");
    }
    address->Describe();
    return {};
  }
  int family = AF_INET;
  if (const char* const text = Variable("HCCL_SOCKET_FAMILY")) {
    if (std::string_view(text) == "AF_INET6") {
      family = AF_INET6;
    } else if (std::string_view(text) != "AF_INET") {
      return BadVariable("HCCL_SOCKET_FAMILY", text, "AF_INET and AF_INET6");
    }
  }
  const char* const choice = Variable("HCCL_SOCKET_IFNAME");
  if (choice == nullptr) {
    *is_chosen = false;
    address->storage.ss_family = AF_INET;
    reinterpret_cast<sockaddr_in*>(&address->storage)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address->Describe();
    return {};
  }
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0)
    return {HCCL_E_SYSCALL, Text("the machine's network interfaces cannot be listed.")};
  const ifaddrs* best = nullptr;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family || (one->ifa_flags & IFF_UP) == 0)
      continue;
    if (!IsChosen(one->ifa_name, choice)) continue;
    if (best == nullptr || RankOf(*one) < RankOf(*best) ||
        (RankOf(*one) == RankOf(*best) && std::strcmp(one->ifa_name, best->ifa_name) < 0)) {
      best = one;
    }
  }
  if (best != nullptr) {
    std::memcpy(&address->storage, best->ifa_addr,
                family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  }
  freeifaddrs(all);
  if (best == nullptr) {
    return {HCCL_E_NOT_FOUND,
            Text("the variable HCCL_SOCKET_IFNAME has the value ", choice,
                 ", which no interface fits that is up and has an address of HCCL_SOCKET_FAMILY.")};
  }
  address->Describe();
  return {};
}

Fault ListenerPorts(Ports* ports) noexcept {
  *ports = Ports();
  const char* const accepted = "ports and ranges such as 60000,60050-60100, or auto";
  if (const char* const text = Variable("HCCL_HOST_SOCKET_PORT_RANGE")) {
    std::string_view rest = text;
    if (rest == "auto") {
      ports->count = 1;
      return {};
    }
    while (!rest.empty()) {
      const std::string_view part = NextPart(rest);
      const size_t dash = part.find('-');
      long first = 0;
      long last = 0;
      if (!Parse(part.substr(0, dash), &first) ||
          !Parse(dash == std::string_view::npos ? part : part.substr(dash + 1), &last) || first < 1 ||
          last > 65535 || first > last || ports->count == Ports::kMost) {
        return BadVariable("HCCL_HOST_SOCKET_PORT_RANGE", text, accepted);
      }
      ports->ranges[ports->count++] = {static_cast<uint16_t>(first), static_cast<uint16_t>(last)};
    }
    return {};
  }
  ports->count = 1;
  if (const char* const text = Variable("HCCL_IF_BASE_PORT")) {
    long first = 0;
    if (!Parse(text, &first) || first < 1024 || first > 65520) {
      return BadVariable("HCCL_IF_BASE_PORT", text, "1024 to 65520");
    }
    ports->ranges[0] = {static_cast<uint16_t>(first),
                        static_cast<uint16_t>(first + 31 > 65535 ? 65535 : first + 31)};
  }
  return {};
}

}  // namespace portacl::hccl
