// What belongs to the process or a thread: start and end callbacks, versions, last error, system parameters,
// the log.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_rt_api.h"
#include "acl/acl_tdt.h"
#include "aclnnop/aclnn_add.h"
#include "gtest/gtest.h"
#include "runtime/rt.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

using Start = ScopedEnvironment::Start;

class File {
 public:
  explicit File(const std::string& content) {
    char name[] = "/tmp/portacl-test-XXXXXX";
    const int file = mkstemp(name);
    EXPECT_GE(file, 0);
    close(file);
    path_ = name;
    std::ofstream(path_) << content;
  }
  ~File() { std::remove(path_.c_str()); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

// ---- Start and end ----

// While the library is started, a file that cannot be read is no repetition: whoever names it expects to be
// heard.
TEST(StartAndEnd, AnUnreadableFileIsReportedAtEveryCall) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);  // started without a file
  EXPECT_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_NE(Message().find("/nonexistent/acl.json"), std::string::npos);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  uint64_t left = 9;
  EXPECT_EQ(aclFinalizeReference(&left), 0);
  EXPECT_EQ(left, 1u) << "the refused call was not counted";
  EXPECT_EQ(aclFinalize(), 0);
  const File file("{}");
  ASSERT_EQ(aclInit(file.path()), 0);
  EXPECT_EQ(aclInit("/nonexistent/acl.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclInit(file.path()), ACL_ERROR_REPEAT_INITIALIZE);
}

struct Called {
  std::vector<std::string> log;
  aclError start_result = 0;
  aclError end_result = 0;
};

aclError AtStart(const char* text, size_t length, void* data) {
  auto* called = static_cast<Called*>(data);
  called->log.push_back("start:" + std::string(text, length));
  return called->start_result;
}
aclError AtStartToo(const char* text, size_t, void* data) {
  static_cast<Called*>(data)->log.push_back("start too");
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE) << "callbacks may call the library";
  EXPECT_EQ(aclFinalizeReference(nullptr), 0);
  EXPECT_NE(text, nullptr);
  return 0;
}
aclError AtEnd(void* data) {
  auto* called = static_cast<Called*>(data);
  called->log.push_back("end");
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE) << "not yet ended";
  return called->end_result;
}
aclError AtEndToo(void* data) {
  static_cast<Called*>(data)->log.push_back("end too");
  return 0;
}

aclError ThrowAtStart(const char*, size_t, void*) { throw 1; }
aclError ThrowAtEnd(void*) { throw 1; }

// Nothing is started, or everything has ended, and the message says why.
TEST(StartAndEnd, CallbacksThatThrow) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  const auto says_so = [] {
    const char* const message = aclGetRecentErrMsg();
    return message != nullptr && std::string(message).find("threw an exception") != std::string::npos;
  };
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, ThrowAtStart, nullptr), 507000) << "called at once";
  EXPECT_TRUE(says_so());
  ASSERT_EQ(aclFinalize(), 0);
  ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, ThrowAtStart, nullptr), 0) << "was not registered";
  EXPECT_EQ(aclInit(nullptr), 507000);
  EXPECT_TRUE(says_so());
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, ThrowAtStart), 0);
  ASSERT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, ThrowAtEnd, nullptr), 0);
  for (const bool all : {false, true}) {
    ASSERT_EQ(aclInit(nullptr), 0);
    while (aclGetRecentErrMsg() != nullptr) {
    }
    EXPECT_EQ(all ? aclFinalize() : aclFinalizeReference(nullptr), 507000);
    EXPECT_TRUE(says_so());
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  }
  EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, ThrowAtEnd), 0);
  ASSERT_EQ(aclInit(nullptr), 0);
}

TEST(StartAndEnd, CallbacksInOrder) {
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
  ASSERT_EQ(aclFinalize(), 0);
  Called called;
  const auto log = [&] { return std::exchange(called.log, {}); };
  using Log = std::vector<std::string>;
  ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, AtStart, &called), 0);
  ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, AtStartToo, &called), 0);
  ASSERT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, AtEnd, &called), 0);
  ASSERT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, AtEndToo, &called), 0);
  EXPECT_EQ(log(), Log{}) << "nothing before the start";
  const File file("{\"a\": 1}");
  ASSERT_EQ(aclInit(file.path()), 0);
  EXPECT_EQ(log(), (Log{"start:{\"a\": 1}", "start too"}));
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalizeReference(nullptr), 0);
  EXPECT_EQ(log(), Log{}) << "only the first and the last";
  EXPECT_EQ(aclFinalize(), 0);
  EXPECT_EQ(log(), (Log{"end too", "end"}));
  ASSERT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(log(), (Log{"start:", "start too"}));
  EXPECT_EQ(aclFinalizeReference(nullptr), 0);
  EXPECT_EQ(log(), (Log{"end too", "end"}));

  // A function that fails.
  called.start_result = 4711;
  EXPECT_EQ(aclInit(nullptr), 4711);
  EXPECT_EQ(log(), Log{"start:"}) << "the others are not called";
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "not started";
  called.start_result = 0;
  called.end_result = 4712;
  EXPECT_EQ(aclInit(nullptr), 0);
  log();
  EXPECT_EQ(aclFinalize(), 4712);
  EXPECT_EQ(log(), (Log{"end too", "end"}));
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "ended all the same";

  // Registered late.
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, AtStart), 0);
  EXPECT_EQ(aclInit(nullptr), 0);
  EXPECT_EQ(log(), Log{"start too"});
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, AtStart, &called), 0);
  EXPECT_EQ(log(), Log{"start:"}) << "called at once";
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, AtStart), 0);
  called.start_result = 5;
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, AtStart, &called), 5);
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, AtStart), ACL_ERROR_INVALID_PARAM)
      << "not registered";

  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, AtStartToo, &called), ACL_ERROR_INVALID_PARAM)
      << "twice";
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, &called), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclInitCallbackRegister(static_cast<aclRegisterCallbackType>(8), AtStart, &called),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, AtEndToo, &called), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, &called), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclFinalizeCallbackRegister(static_cast<aclRegisterCallbackType>(-1), AtEnd, &called),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_RETR, AtEnd), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, AtStartToo), 0);
  EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, AtEnd), 0);
  EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, AtEndToo), 0);
}

// ---- Versions ----

TEST(Versions, OfInterfaceAndPackages) {
  int32_t parts[3] = {};
  EXPECT_EQ(aclrtGetVersion(&parts[0], &parts[1], &parts[2]), 0);
  EXPECT_EQ(parts[0], 1);
  EXPECT_EQ(parts[1], 17);
  EXPECT_EQ(parts[2], 0);
  EXPECT_EQ(aclrtGetVersion(nullptr, &parts[1], &parts[2]), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&parts[0], nullptr, &parts[2]), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&parts[0], &parts[1], nullptr), ACL_ERROR_INVALID_PARAM);

  Message();
  char text[ACL_PKG_VERSION_MAX_SIZE] = {};
  int32_t number = 0;
  for (const char* name : {"cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "driver",
                           "ops_cv", "ops_transformer", "ops_nn", "ops_math", "ops_legacy"}) {
    std::string package = name;
    EXPECT_EQ(aclsysGetVersionStr(package.data(), text), 0);
    EXPECT_STREQ(text, "9.1.0");
    EXPECT_EQ(aclsysGetVersionNum(package.data(), &number), 0);
    EXPECT_EQ(number, 90100000);
  }
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "nobody is told of packages that are there";
  text[0] = '?';
  for (const char* name : {"", "Cann", "ops", "opps", "ops_nn ", "portacl"}) {
    std::string package = name;
    EXPECT_EQ(aclsysGetVersionStr(package.data(), text), ACL_ERROR_INVALID_FILE) << name;
    EXPECT_NE(Message().find("aclsysGetVersionStr: parameter pkgName has the value " + package +
                             ", accepted: cann, runtime, compiler"),
              std::string::npos);
    EXPECT_EQ(aclsysGetVersionNum(package.data(), &number), ACL_ERROR_INVALID_FILE) << name;
    EXPECT_NE(Message().find("ops_legacy"), std::string::npos);
  }
  EXPECT_EQ(text[0], '?') << "untouched";
  char driver[] = "driver";
  EXPECT_EQ(aclsysGetVersionStr(nullptr, text), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionStr(driver, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionNum(nullptr, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionNum(driver, nullptr), ACL_ERROR_INVALID_PARAM);

  aclCANNPackageVersion version;
  std::memset(&version, 0x55, sizeof version);
  EXPECT_EQ(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(-1), &version), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(8), &version), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(version.version[0], 0x55) << "untouched";
  Message();
  for (int name = ACL_PKG_NAME_CANN; name <= ACL_PKG_NAME_DRIVER; ++name) {
    EXPECT_EQ(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(name), &version), 0);
    EXPECT_STREQ(version.version, "9.1.0");
    EXPECT_STREQ(version.majorVersion, "9");
    EXPECT_STREQ(version.minorVersion, "1");
    EXPECT_STREQ(version.releaseVersion, "0");
    EXPECT_STREQ(version.patchVersion, "");
  }
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST(Versions, AttributesOfTheProduct) {
  const struct {
    const char* product;
    bool bf16;
  } cases[] = {
      {"Ascend910B1", true}, {"Ascend950PR_9599", true}, {"Ascend910A", false}, {"Ascend310P3", false}};
  for (const auto& one : cases) {
    const ScopedEnvironment environment({{"PORTACL_SOC", one.product}}, Start::kWithoutDevice);
    const aclCannAttr* list = nullptr;
    size_t count = 0;
    ASSERT_EQ(aclGetCannAttributeList(&list, &count), 0);
    EXPECT_EQ(std::vector<aclCannAttr>(list, list + count),
              one.bf16 ? (std::vector<aclCannAttr>{ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16})
                       : std::vector<aclCannAttr>{ACL_CANN_ATTR_INF_NAN});
    int32_t value = -1;
    EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &value), 0);
    EXPECT_EQ(value, one.bf16 ? 1 : 0);
    EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &value), 0);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_JIT_COMPILE, &value), 0);
    EXPECT_EQ(value, 0);
    EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclGetCannAttributeList(nullptr, &count), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclGetCannAttributeList(&list, nullptr), ACL_ERROR_INVALID_PARAM);
  }
}

// ---- Errors ----

TEST(LastError, IsTheThreadsOwn) {
  const ScopedEnvironment environment(Variables{});
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE) << "which may be ignored";
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtFree(memory), 0) << "success changes nothing";
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID) << "looking keeps it";
  std::thread([] {
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), 0);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
  }).join();
  EXPECT_EQ(aclrtPeekAtLastError(static_cast<aclrtLastErrLevel>(1)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(static_cast<aclrtLastErrLevel>(1)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0) << "taken";
}

aclError Peek() { return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL); }

// Every function that is refused as not supported, and others with a value that is.
std::vector<std::pair<const char*, std::function<aclError()>>> Refusals(aclrtStream stream) {
  static uint64_t number = 0;
  static int64_t whole = 0;
  static size_t size = 0;
  static uint32_t word = 0;
  static void* address = nullptr;
  static void* other_address = nullptr;
  static char text[64] = {};
  static int32_t process = 1;
  static aclrtDrvMemHandle memory = nullptr;
  static aclrtBinHandle file = nullptr;
  static aclrtFuncHandle kernel = nullptr;
  static aclrtEvent event = nullptr;
  static aclrtStream made = nullptr;
  static aclrtIpcEventHandle shared_event = {};
#define REFUSAL(function, ...)                                              \
  {                                                                         \
#function, [=] { return static_cast<aclError>(function(__VA_ARGS__)); } \
  }
  return {
      REFUSAL(aclrtMemExportToShareableHandle, nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &number),
      REFUSAL(aclrtMemImportFromShareableHandle, 1, 0, &memory),
      REFUSAL(aclrtMemSetPidToShareableHandle, 1, &process, 1),
      REFUSAL(aclrtIpcMemGetExportKey, &number, 8, text, 64, 0),
      REFUSAL(aclrtIpcMemImportByKey, &address, text, 0),
      REFUSAL(aclrtIpcMemSetImportPid, text, &process, 1),
      REFUSAL(aclrtIpcMemClose, text),
      REFUSAL(aclrtIpcGetEventHandle, nullptr, &shared_event),
      REFUSAL(aclrtIpcOpenEventHandle, shared_event, &event),
      REFUSAL(aclrtCreateEventWithFlag, &event, ACL_EVENT_IPC),
      REFUSAL(aclrtCreateEventExWithFlag, &event, ACL_EVENT_IPC),
      REFUSAL(aclmdlInitDump),
      REFUSAL(aclmdlSetDump, "dump.json"),
      REFUSAL(aclmdlFinalizeDump),
      REFUSAL(aclopStartDumpArgs, ACL_OP_DUMP_OP_AICORE_ARGS, "dump"),
      REFUSAL(aclopStopDumpArgs, ACL_OP_DUMP_OP_AICORE_ARGS),
      REFUSAL(acltdtDestroyChannel, nullptr),
      REFUSAL(acltdtDestroyDataset, nullptr),
      REFUSAL(acltdtReceiveTensor, nullptr, nullptr, 1),
      REFUSAL(acltdtGetDimsFromItem, nullptr, &whole, 1),
      REFUSAL(aclrtBinaryLoadFromData, &number, 8, nullptr, &file),
      REFUSAL(aclrtBinaryGetFunction, nullptr, "kernel", &kernel),
      REFUSAL(aclrtGetFunctionAddr, nullptr, &address, &other_address),
      REFUSAL(aclopSetModelDir, "models"),
      REFUSAL(rtDevBinaryRegister, nullptr, &address),
      REFUSAL(rtFunctionRegister, nullptr, nullptr, "kernel", nullptr, 0),
      REFUSAL(rtKernelLaunch, nullptr, 1, nullptr, 0, nullptr, stream),
      REFUSAL(rtGetC2cCtrlAddr, &number, &word),
      REFUSAL(aclprofGetSupportedFeatures, &size, &address),
      REFUSAL(aclprofGetSupportedFeaturesV2, &size, &address),
      REFUSAL(aclrtCreateStreamWithConfig, &made, 0, ACL_STREAM_PERSISTENT),
      REFUSAL(aclrtMemcpyAsync, text, 8, text + 8, 8, ACL_MEMCPY_HOST_TO_HOST, stream),
      REFUSAL(aclrtMemcpy2dAsync, text, 8, text + 8, 8, 8, 1, ACL_MEMCPY_HOST_TO_HOST, stream),
      REFUSAL(aclrtSetDeviceSatMode, ACL_RT_OVERFLOW_MODE_SATURATION),
      REFUSAL(aclrtSetStreamOverflowSwitch, stream, 1),
      REFUSAL(aclrtGetOverflowStatus, text, 64, stream),
      REFUSAL(aclrtResetOverflowStatus, stream),
      REFUSAL(aclrtSetTsDevice, ACL_TS_ID_AIVECTOR),
      REFUSAL(aclrtGetDeviceInfo, 0, ACL_DEV_ATTR_MAX_GRID_DIM_X, &whole),
      REFUSAL(aclrtMemUceRepair, 0, nullptr, 0),
  };
#undef REFUSAL
}

// torch_npu goes by the last error: 207000 there has it go on with what nobody wrote.
TEST(LastError, OfWhatIsNotSupportedIsIts200006) {
  const ScopedEnvironment environment(Variables{});
  for (const auto& [name, call] : Refusals(environment.stream())) {
    Message();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_EQ(call(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << name;
    EXPECT_EQ(Peek(), ACL_ERROR_FEATURE_UNSUPPORTED) << name;
    const std::string message = Message();
    EXPECT_NE(message.find("Not_Supported(EH0011): " + std::string(name)), std::string::npos) << message;
    EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(Peek(), ACL_ERROR_RT_INVALID_DEVICEID) << name << ": a later failure counts";
    EXPECT_EQ(call(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << name;
    EXPECT_EQ(Peek(), ACL_ERROR_FEATURE_UNSUPPORTED) << name << ": a later refusal counts";
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_FEATURE_UNSUPPORTED) << name;
    EXPECT_EQ(Peek(), 0) << name << ": taken";
  }
  for (const auto& create : {+[]() -> const void* { return acltdtCreateChannelWithCapacity(0, "prints", 1); },
                             +[]() -> const void* { return acltdtCreateDataset(); },
                             +[]() -> const void* { return acltdtGetDataItem(nullptr, 0); },
                             +[]() -> const void* { return acltdtGetDataAddrFromItem(nullptr); }}) {
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_EQ(create(), nullptr);
    EXPECT_EQ(Peek(), ACL_ERROR_FEATURE_UNSUPPORTED);
  }
  for (const auto& count :
       {+[] { return acltdtGetDatasetSize(nullptr); }, +[] { return acltdtGetDataSizeFromItem(nullptr); },
        +[] { return acltdtGetDimNumFromItem(nullptr); }}) {
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_EQ(count(), 0u);
    EXPECT_EQ(Peek(), ACL_ERROR_FEATURE_UNSUPPORTED);
  }
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(acltdtGetDataTypeFromItem(nullptr), ACL_DT_UNDEFINED);
  EXPECT_EQ(Peek(), ACL_ERROR_FEATURE_UNSUPPORTED);
}

// What operators return for a null argument.
constexpr aclError kNullPointer = 161001;

TEST(LastError, OfAnOperatorHidesAnOlderOne) {
  const ScopedEnvironment environment(Variables{});
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclmdlInitDump(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclnnAddsGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr, &workspace, &executor),
            kNullPointer);
  EXPECT_EQ(Peek(), kNullPointer);
  EXPECT_EQ(aclmdlInitDump(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclnnAdds(nullptr, 0, nullptr, environment.stream()), kNullPointer);
  EXPECT_EQ(Peek(), kNullPointer);
  EXPECT_EQ(aclmdlInitDump(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclopCompileAndExecute("RotatedNMS", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                   ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, environment.stream()),
            ACL_ERROR_OP_NOT_FOUND);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_OP_NOT_FOUND);
  EXPECT_EQ(Peek(), 0);
}

TEST(Unsupported, SaysSo) {
  Message();
  const auto refused = [](const char* name, aclError status) {
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << name;
    const std::string message = Message();
    EXPECT_NE(message.find(std::string(name) + " is not supported: "), std::string::npos) << message;
    EXPECT_NE(message.find("EH0011"), std::string::npos) << message;
  };
  uint64_t handle = 0;
  aclrtDrvMemHandle memory = nullptr;
  void* address = nullptr;
  char key[64] = {};
  refused("aclrtMemExportToShareableHandle",
          aclrtMemExportToShareableHandle(nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &handle));
  refused("aclrtMemImportFromShareableHandle", aclrtMemImportFromShareableHandle(1, 0, &memory));
  refused("aclrtIpcMemGetExportKey", aclrtIpcMemGetExportKey(&handle, 8, key, 64, 0));
  refused("aclrtIpcMemImportByKey", aclrtIpcMemImportByKey(&address, key, 0));
  refused("aclrtIpcMemClose", aclrtIpcMemClose(key));
  refused("aclmdlInitDump", aclmdlInitDump());
  refused("aclmdlSetDump", aclmdlSetDump("/nonexistent"));
  refused("aclmdlFinalizeDump", aclmdlFinalizeDump());
}

// ---- System parameters ----

TEST(SystemParameters, OfProcessAndContext) {
  const ScopedEnvironment environment(Variables{});
  int64_t value = -1;
  for (const aclSysParamOpt option : {ACL_OPT_DETERMINISTIC, ACL_OPT_ENABLE_DEBUG_KERNEL,
                                      ACL_OPT_STRONG_CONSISTENCY, ACL_OPT_ENABLE_KERNEL_EARLY_START}) {
    EXPECT_EQ(aclrtGetSysParamOpt(option, &value), 0);
    EXPECT_EQ(value, 0);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(option, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    EXPECT_EQ(aclrtSetSysParamOpt(option, 1), 0);
    EXPECT_EQ(aclrtGetSysParamOpt(option, &value), 0);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(aclrtSetSysParamOpt(option, 0), 0);
  }
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3), 0);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), 0);
  EXPECT_EQ(value, 0) << "the context's is its own";
  std::thread([&] {
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_ERROR_RT_CONTEXT_NULL);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), 0);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    EXPECT_EQ(aclrtDestroyContext(context), 0);
  }).join();
  for (const int option : {-1, 4}) {
    const auto unknown = static_cast<aclSysParamOpt>(option);
    EXPECT_EQ(aclrtSetSysParamOpt(unknown, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetSysParamOpt(unknown, &value), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(unknown, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(unknown, &value), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 4), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, -1), ACL_ERROR_RT_PARAM_INVALID);
}

// ---- The program's own log lines ----

TEST(AppLog, GoesWhereTheLogGoes) {
  setenv("ASCEND_LOG_PRINT_TO_STDOUT", "1", 1);
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "2", 1);
  std::string output;
  ::testing::internal::CaptureStdout();  // before the start: the log goes to what standard output is then
  {
    const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
    ACL_APP_LOG(ACL_WARNING, "%d of %s", 3, "four");
    ACL_APP_LOG(ACL_INFO, "below the level");
    ACL_APP_LOG(ACL_ERROR, "%s", std::string(5000, 'x').c_str());
    aclAppLog(ACL_ERROR, nullptr, nullptr, 7, "from nowhere");
    aclAppLog(ACL_ERROR, "f", "g", 7, nullptr);
    output = ::testing::internal::GetCapturedStdout();
  }
  unsetenv("ASCEND_LOG_PRINT_TO_STDOUT");
  unsetenv("ASCEND_GLOBAL_LOG_LEVEL");
  EXPECT_NE(output.find("[WARNING]"), std::string::npos) << output;
  EXPECT_NE(output.find("process_services_test.cc:"), std::string::npos);
  EXPECT_NE(output.find("] 3 of four\n"), std::string::npos);
  EXPECT_NE(output.find("from nowhere\n"), std::string::npos);
  EXPECT_EQ(output.find("below"), std::string::npos);
  EXPECT_EQ(output.find(std::string(1024, 'x')), std::string::npos) << "cut";
  const ScopedEnvironment environment(Variables{}, Start::kWithoutDevice);
}

// ---- The overloads for C++ ----

TEST(Overloads, CallTheFunctionsOfC) {
  const ScopedEnvironment environment(Variables{});
  float* device = nullptr;
  double* host = nullptr;
  EXPECT_EQ(aclrtMalloc(static_cast<float**>(nullptr), 64), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtMalloc(&device, 64), 0);
  ASSERT_EQ(aclrtMallocHost(&host, 64), 0);
  EXPECT_EQ(aclrtFree(device), 0);
  EXPECT_EQ(aclrtFreeHost(host), 0);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream, 8, 0), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtCreateStream(&stream, 3, ACL_STREAM_FAST_LAUNCH), 0);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event, ACL_EVENT_SYNC), 0);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_EQ(aclrtQueryEventStatus(event, &status), 0);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtStreamWaitEvent(stream, event, 10), 0);
  EXPECT_EQ(aclrtSynchronizeEvent(event, 10), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream, 1000), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream, -2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeDevice(1000), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), 0);
}

}  // namespace
}  // namespace portacl::testing
