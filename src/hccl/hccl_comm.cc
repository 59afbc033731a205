// The functions of hccl/hccl_comm.h, which create, query and destroy communicators.
// SPDX-License-Identifier: Apache-2.0
#include "hccl/hccl_comm.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "acl/device/device.h"
#include "base/process/cancellation.h"
#include "base/process/unwinding.h"
#include "hccl/communicator.h"
#include "hccl/hccl_errors.h"
#include "hccl/hccl_settings.h"
#include "hccl/named_ranks.h"
#include "hccl/rendezvous.h"

namespace portacl::hccl {
namespace {

HcclResult FailNoMemory(const char* api) noexcept {
  return Fail(HCCL_E_OOM, Text(api, ": not enough memory."));
}

// Two layouts have one version, and older clients pass only the first fields, so that the size decides what
// is there.
HcclResult ReadConfig(const char* api, const HcclCommConfig* config, CommunicatorOptions* options) {
  static std::atomic<unsigned> made{0};
  if (Fault fault = ExecTimeout(&options->exec_seconds)) return Report(api, fault);
  options->name = "portacl_" + std::to_string(made.fetch_add(1));
  if (config == nullptr) return HCCL_SUCCESS;
  const size_t size = config->size;
  if (config->magic != HCCL_COMM_CONFIG_MAGIC_WORD || size < offsetof(HcclCommConfig, hcclCommName)) {
    return Fail(HCCL_E_PARA, Text(api, ": parameter config was not filled in by HcclCommConfigInit."));
  }
  if (size >= offsetof(HcclCommConfig, hcclUdi) && config->hcclCommName[0] != '\0') {
    options->name.assign(config->hcclCommName, strnlen(config->hcclCommName, COMM_NAME_MAX_LENGTH - 1));
  }
  if (size >= offsetof(HcclCommConfig, hcclAlgo)) {
    const int seconds = config->hcclExecTimeOut;
    if (seconds < -1)
      return RefuseValue(api, "config.hcclExecTimeOut", seconds,
                         "seconds, 0 for no limit, -1 for HCCL_EXEC_TIMEOUT");
    if (seconds >= 0) options->exec_seconds = seconds;
  }
  return HCCL_SUCCESS;
}

HcclResult CheckRank(const char* api, uint32_t ranks, uint32_t rank) noexcept {
  if (ranks == 0 || ranks > kMostRanks) return RefuseValue(api, "nRanks", ranks, "1 to 4096");
  if (rank >= ranks) return RefuseValue(api, "rank", rank, "a number below nRanks");
  return HCCL_SUCCESS;
}

HcclResult Publish(const char* api, std::shared_ptr<Communicator> made, HcclComm* comm) noexcept {
  const HcclComm handle = PublishCommunicator(std::move(made));
  if (handle == nullptr) return FailNoMemory(api);
  OfferToOperators();
  *comm = handle;
  return HCCL_SUCCESS;
}

int DeviceOfThread() noexcept {
  const Context* const context = CurrentContext();
  return context == nullptr ? 0 : context->device.load();
}

HcclResult Init(const char* api, uint32_t ranks, const HcclRootInfo* info, uint32_t rank,
                const HcclCommConfig* config, HcclComm* comm, int device = DeviceOfThread()) noexcept {
  const CancellationDeferred deferred;
  if (info == nullptr) return RefuseNull(api, "rootInfo", "what HcclGetRootInfo wrote in rank 0");
  if (comm == nullptr) return RefuseNull(api, "comm", "the address of an HcclComm");
  if (HcclResult result = CheckRank(api, ranks, rank)) return result;
  try {
    CommunicatorOptions options;
    if (HcclResult result = ReadConfig(api, config, &options)) return result;
    options.device = device;
    std::shared_ptr<Communicator> made;
    if (Fault fault = Communicator::Join(*info, ranks, rank, std::move(options), &made)) {
      return Fail(fault.code, Text(api, ", rank ", rank, " of ", ranks, ": ", fault.text.view()));
    }
    return Publish(api, std::move(made), comm);
  } catch (const std::bad_alloc&) {
    return FailNoMemory(api);
  }
}

// Returns the communicator of a handle, or nullptr after an error, which is in *result.
std::shared_ptr<Communicator> Find(const char* api, HcclComm comm, HcclResult* result) noexcept {
  std::shared_ptr<Communicator> found = FindCommunicator(comm);
  if (found == nullptr) {
    *result = comm == nullptr
                  ? RefuseNull(api, "comm", "a live communicator")
                  : RefuseValue(api, "comm", static_cast<const void*>(comm), "a live communicator");
  }
  return found;
}

HcclResult GetRootInfo(const char* api, HcclRootInfo* info) noexcept {
  const CancellationDeferred deferred;
  if (info == nullptr) return RefuseNull(api, "rootInfo", "the address of an HcclRootInfo");
  if (Fault fault = OpenRendezvous(info)) return Report(api, fault);
  return HCCL_SUCCESS;
}

template <class Value, class Get>
HcclResult Ask(const char* api, HcclComm comm, const char* name, Value* value, Get get) noexcept {
  HcclResult result = HCCL_SUCCESS;
  if (value == nullptr) return RefuseNull(api, name, "the address of a number");
  const std::shared_ptr<Communicator> found = Find(api, comm, &result);
  if (found != nullptr) *value = get(*found);
  return result;
}

}  // namespace
}  // namespace portacl::hccl

using namespace portacl;
using namespace portacl::hccl;

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) { return GetRootInfo("HcclGetRootInfo", rootInfo); }
HcclResult HcclGetRootInfoScalable(HcclRootInfo* rootInfo) {
  return GetRootInfo("HcclGetRootInfoScalable", rootInfo);
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return Init("HcclCommInitRootInfo", nRanks, rootInfo, rank, nullptr, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  const char* const api = "HcclCommInitRootInfoConfig";
  if (config == nullptr)
    return RefuseNull(api, "config", "an HcclCommConfig that HcclCommConfigInit filled in");
  return Init(api, nRanks, rootInfo, rank, config, comm);
}

HcclResult HcclCommInitRootInfoScalable(uint32_t nRanks, uint32_t nRoot, const HcclRootInfo* rootInfoList,
                                        uint32_t rank, uint32_t nExtRoot, const HcclCommConfig* config,
                                        HcclComm* comm) {
  const char* const api = "HcclCommInitRootInfoScalable";
  if (config == nullptr)
    return RefuseNull(api, "config", "an HcclCommConfig that HcclCommConfigInit filled in");
  if (nRoot == 0) return RefuseValue(api, "nRoot", nRoot, "1 or more");
  if (nExtRoot != 0) return RefuseValue(api, "nExtRoot", nExtRoot, "0");
  return Init(api, nRanks, rootInfoList, rank, config, comm);
}

// NOLINTNEXTLINE(readability-non-const-parameter): CANN's signature
HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  const char* const api = "HcclCommInitAll";
  const CancellationDeferred deferred;
  if (devices == nullptr) return RefuseNull(api, "devices", "the numbers of ndev devices");
  if (comms == nullptr) return RefuseNull(api, "comms", "room for ndev communicators");
  if (HcclResult result = CheckRank(api, ndev, 0)) return result;
  HcclRootInfo info;
  if (HcclResult result = GetRootInfo(api, &info)) return result;
  EnsureUnwinding();
  try {
    // Runs a thread for each rank, because the ranks wait for each other.
    std::vector<HcclResult> results(ndev, HCCL_E_INTERNAL);
    std::vector<HcclComm> made(ndev, nullptr);
    std::vector<std::thread> threads;
    for (uint32_t rank = 1; rank < ndev; ++rank) {
      try {
        threads.emplace_back(
            [&, rank] { results[rank] = Init(api, ndev, &info, rank, nullptr, &made[rank], devices[rank]); });
      } catch (const std::system_error&) {
        break;
      }
    }
    if (threads.size() + 1 == ndev) results[0] = Init(api, ndev, &info, 0, nullptr, &made[0], devices[0]);
    for (std::thread& thread : threads) thread.join();
    for (const HcclResult result : results) {
      if (result == HCCL_SUCCESS) continue;
      for (const HcclComm one : made) {
        if (one != nullptr) HcclCommDestroy(one);
      }
      return result;
    }
    std::memcpy(comms, made.data(), ndev * sizeof made[0]);
    return HCCL_SUCCESS;
  } catch (const std::bad_alloc&) {
    return FailNoMemory(api);
  }
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
  const char* const api = "HcclCreateSubCommConfig";
  const CancellationDeferred deferred;
  HcclResult result = HCCL_SUCCESS;
  if (comm == nullptr) return RefuseNull(api, "comm", "the address of a live communicator");
  if (rankIds == nullptr) return RefuseNull(api, "rankIds", "the ranks of the new communicator");
  if (config == nullptr)
    return RefuseNull(api, "config", "an HcclCommConfig that HcclCommConfigInit filled in");
  if (subComm == nullptr) return RefuseNull(api, "subComm", "the address of an HcclComm");
  const std::shared_ptr<Communicator> parent = Find(api, *comm, &result);
  if (parent == nullptr) return result;
  const auto size = static_cast<uint32_t>(parent->size());
  if (rankNum == 0 || rankNum > size)
    return RefuseValue(api, "rankNum", rankNum, "1 to the number of ranks of comm");
  if (subCommRankId >= rankNum)
    return RefuseValue(api, "subCommRankId", subCommRankId, "a number below rankNum");
  try {
    std::vector<bool> is_there(size);
    for (uint32_t i = 0; i < rankNum; ++i) {
      if (rankIds[i] >= size || is_there[rankIds[i]]) {
        return RefuseValue(api, "rankIds", rankIds[i], "ranks of comm, each once");
      }
      is_there[rankIds[i]] = true;
    }
    if (rankIds[subCommRankId] != static_cast<uint32_t>(parent->rank())) {
      return RefuseValue(api, "rankIds[subCommRankId]", rankIds[subCommRankId], "the calling rank");
    }
    CommunicatorOptions options;
    if ((result = ReadConfig(api, config, &options))) return result;
    options.device = parent->device();
    if (parent->fault() != HCCL_SUCCESS || !parent->IsOfThisProcess() || !parent->Enter()) {
      return Fail(HCCL_E_UNAVAIL,
                  Text(api, ": the communicator is broken, or of a process that forked this one."));
    }
    std::shared_ptr<Communicator> made;
    Fault fault;
    try {
      fault = Communicator::Split(*parent, std::vector<uint32_t>(rankIds, rankIds + rankNum), subCommRankId,
                                  subCommId, std::move(options), &made);
    } catch (const std::bad_alloc&) {
      fault = {HCCL_E_OOM, Text("not enough memory.")};
    }
    parent->Leave();
    if (fault) return Report(api, fault);
    return Publish(api, std::move(made), subComm);
  } catch (const std::bad_alloc&) {
    return FailNoMemory(api);
  }
}

HcclResult HcclCommDestroy(HcclComm comm) {
  const char* const api = "HcclCommDestroy";
  const CancellationDeferred deferred;
  const std::shared_ptr<Communicator> taken = TakeCommunicator(comm);
  if (taken == nullptr) {
    if (comm == nullptr) return RefuseNull(api, "comm", "a live communicator");
    return RefuseValue(api, "comm", static_cast<const void*>(comm), "a live communicator");
  }
  if (taken->IsOfThisProcess()) taken->Close();
  return HCCL_SUCCESS;
}

HcclResult HcclCommSuspend(HcclComm comm) {
  HcclResult result = HCCL_SUCCESS;
  if (const auto found = Find("HcclCommSuspend", comm, &result)) found->is_suspended.store(true);
  return result;
}

HcclResult HcclCommResume(HcclComm comm) {
  const char* const api = "HcclCommResume";
  HcclResult result = HCCL_SUCCESS;
  const auto found = Find(api, comm, &result);
  if (found == nullptr) return result;
  if (found->fault() != HCCL_SUCCESS) {
    return Fail(
        found->fault(),
        Text(api, ": the communicator is broken for ever, make a new one: ", found->FaultText().view()));
  }
  found->is_suspended.store(false);
  return HCCL_SUCCESS;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return Ask("HcclGetCommAsyncError", comm, "asyncError", asyncError,
             [](const Communicator& one) { return one.fault(); });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return Ask("HcclGetRankSize", comm, "rankSize", rankSize,
             [](const Communicator& one) { return static_cast<uint32_t>(one.size()); });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return Ask("HcclGetRankId", comm, "rank", rank,
             [](const Communicator& one) { return static_cast<uint32_t>(one.rank()); });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  const char* const api = "HcclGetCommName";
  HcclResult result = HCCL_SUCCESS;
  if (commName == nullptr) return RefuseNull(api, "commName", "room for COMM_NAME_MAX_LENGTH bytes");
  if (const auto found = Find(api, comm, &result))
    std::memcpy(commName, found->name().c_str(), found->name().size() + 1);
  return result;
}

uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_RESERVED; }
