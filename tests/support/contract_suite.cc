// The rules of phase 2: see contract_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include "contract_suite.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "two_phase.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kNullptr = 161001;
constexpr aclnnStatus kRuntimeError = 361001;
constexpr aclnnStatus kInner = 561000;

// Numbers and identifiers must stand alone: "18" does not contain "8", nor "DT_FLOAT16" "DT_FLOAT".
bool Says(const std::string& text, const std::string& fragment) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t at = text.find(fragment); at != std::string::npos; at = text.find(fragment, at + 1)) {
    const size_t end = at + fragment.size();
    const bool starts = at == 0 || !is_word(fragment.front()) || !is_word(text[at - 1]);
    const bool ends = end == text.size() || !is_word(fragment.back()) || !is_word(text[end]);
    if (starts && ends) {
      return true;
    }
  }
  return false;
}

// Returns the length of "[PID: <number>] <date>-<time> " at the start of `text`, or 0 if it does not start
// with that.
size_t EnvelopeLength(std::string_view text) {
  constexpr std::string_view kForm = "[PID: #] dddd-dd-dd-dd:dd:dd.ddd.ddd ";  // d: a digit, #: several
  const auto digit_at = [&](size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  size_t at = 0;
  for (const char form : kForm) {
    const bool is_digit = form == 'd' || form == '#';
    if (is_digit ? !digit_at(at) : at >= text.size() || text[at] != form) {
      return 0;
    }
    ++at;
    while (form == '#' && digit_at(at)) {
      ++at;
    }
  }
  return at;
}

// Returns the message without process numbers and times, which may contain any digits.
std::string WithoutEnvelopes(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const size_t length = EnvelopeLength(message);
    if (length == 0) {
      text += message.front();
    }
    message.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

// Tells whether "Title(EZdddd): " follows the envelope.
bool HasTitle(std::string_view message) {
  message.remove_prefix(EnvelopeLength(message));
  const size_t code = message.find("(EZ");
  return code != std::string_view::npos && code > 0 && message.find(' ') > code &&
         message.substr(code + 7, 3) == "): ";
}

CallSpec ValidCall(const ContractDescription& op) {
  CallSpec call(op.binding.tensors);
  if (op.binding.output >= 0) call.output = static_cast<size_t>(op.binding.output);
  if (op.valid) op.valid(call);
  return call;
}

// The executor of a call, and the workspace that phase 1 asked for.
struct Planned {
  const ContractDescription* op = nullptr;
  aclOpExecutor* executor = nullptr;
  std::unique_ptr<GuardedBuffer> workspace = {};

  aclnnStatus Run(aclrtStream stream) const {
    if (workspace == nullptr) return op->binding.run(nullptr, 0, executor, stream);
    return op->binding.run(workspace->device(), workspace->size(), executor, stream);
  }
};

Planned Plan(const ContractDescription& op, const BuiltCall& call) {
  uint64_t workspace_size = 0;
  Planned planned{&op};
  EXPECT_EQ(op.binding.plan(call.handles(), {}, &workspace_size, &planned.executor), 0) << TakeErrorMessage();
  EXPECT_EQ(workspace_size > 0, op.takes_workspace);
  if (workspace_size > 0) planned.workspace = std::make_unique<GuardedBuffer>(workspace_size);
  return planned;
}

// Returns the bytes that an undisturbed call writes, for comparison.
std::vector<std::byte> ExpectedBytes(const ContractDescription& op, aclrtStream stream) {
  const BuiltCall call(ValidCall(op));
  const Planned planned = Plan(op, call);
  EXPECT_EQ(planned.Run(stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  return call.OutputBytes();
}

void ExpectMessage(aclnnStatus code, const std::vector<std::string>& fragments) {
  EXPECT_TRUE(MessageSays(TakeErrorMessage(), code, fragments));
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "reading the message clears it";
}

}  // namespace

TensorSpec& CallSpec::operator[](const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    throw std::logic_error("no tensor is called " + name);
  }
  return tensors_[static_cast<size_t>(found - names_.begin())];
}

void MakeEmpty(CallSpec& call) {
  for (TensorSpec& tensor : call.tensors()) {
    if (tensor.shape.empty()) continue;  // a scalar, which cannot be empty
    tensor.shape = {0, 3};
    tensor.without_data = true;
  }
}

BuiltCall::BuiltCall(const CallSpec& spec) : output_(spec.output) {
  for (const TensorSpec& tensor : spec.tensors()) {
    storage_.push_back(nullptr);
    if (tensor.null) {
      handles_.push_back(nullptr);
      continue;
    }
    void* address = nullptr;
    if (!tensor.without_data) {
      const auto bytes = static_cast<size_t>(NumElements(tensor.shape) * ElementSize(tensor.dtype));
      storage_.back() = std::make_unique<GuardedBuffer>(bytes);
      std::byte* const bytes_of_it = storage_.back()->data();
      address = storage_.back()->device();
      const bool is_output = storage_.size() == output_ + 1;
      if (is_output) std::memset(bytes_of_it, 0xA5, bytes);
      for (int64_t i = 0; i < NumElements(tensor.shape) && !is_output; ++i) {
        const auto value = static_cast<double>(i + 1) * (storage_.size() % 2 == 0 ? 1.0 : -0.25);
        EncodeElement(tensor.dtype, value, bytes_of_it + i * ElementSize(tensor.dtype));
      }
    }
    handles_.push_back(aclCreateTensor(tensor.shape.data(), tensor.shape.size(), AsAclDataType(tensor.dtype),
                                       nullptr, 0, ACL_FORMAT_ND, tensor.shape.data(), tensor.shape.size(),
                                       address));
    if (handles_.back() == nullptr) {
      ADD_FAILURE() << "aclCreateTensor refused a tensor of shape " << ToString(tensor.shape);
    }
  }
}

BuiltCall::~BuiltCall() { DestroyHandles(); }

void BuiltCall::DestroyHandles() {
  for (aclTensor*& handle : handles_) {
    aclDestroyTensor(handle);
    handle = nullptr;
  }
}

std::vector<std::byte> BuiltCall::OutputBytes() const {
  const GuardedBuffer* output = storage_[output_].get();
  if (output == nullptr) {
    return {};
  }
  return {output->data(), output->data() + output->size()};
}

::testing::AssertionResult MessageSays(const std::string& message, aclnnStatus code,
                                       const std::vector<std::string>& fragments) {
  if (message.empty()) {
    return ::testing::AssertionFailure() << "there is no message";
  }
  const char kind = std::to_string(code).front();
  if (kind != '5' && (EnvelopeLength(message) == 0 || !HasTitle(message))) {
    return ::testing::AssertionFailure() << "the headline has not the documented form: " << message;
  }
  const std::string title = kind == '1'   ? "AclNN_Parameter_Error(EZ1001)"
                            : kind == '3' ? "AclNN_Runtime_Error(EZ9903)"
                                          : "AclNN_Inner_Error(EZ9999)";
  if (message.find(title) == std::string::npos) {
    return ::testing::AssertionFailure() << title << " is missing in: " << message;
  }
  const std::string text = WithoutEnvelopes(message);
  for (const std::string& fragment : fragments) {
    if (!Says(text, fragment)) {
      return ::testing::AssertionFailure() << "\"" << fragment << "\" is missing in: " << message;
    }
  }
  return ::testing::AssertionSuccess();
}

void OnThreadWithoutDevice(const std::function<void()>& body) { std::thread(body).join(); }

void PhaseTwoSuite::NullExecutor(const ContractDescription& op) {
  EXPECT_EQ(op.binding.run(nullptr, 0, nullptr, stream()), kNullptr);
  ExpectMessage(kNullptr, {op.binding.name, "executor"});
}

void PhaseTwoSuite::ExecutorThatNeverExisted(const ContractDescription& op) {
  alignas(64) std::byte zeros[4096] = {};
  alignas(64) std::byte ones[4096];
  std::memset(ones, 0xFF, sizeof ones);
  for (void* address : {static_cast<void*>(zeros), static_cast<void*>(ones), static_cast<void*>(zeros + 1),
                        ForbiddenAddress()}) {
    EXPECT_EQ(op.binding.run(nullptr, 0, static_cast<aclOpExecutor*>(address), stream()), kInner);
    ExpectMessage(kInner, {op.binding.name, "executor"});
  }
}

void PhaseTwoSuite::ExecutorUsedTwice(const ContractDescription& op) {
  const BuiltCall call(ValidCall(op));
  const Planned planned = Plan(op, call);
  EXPECT_EQ(planned.Run(stream()), 0);
  EXPECT_EQ(planned.Run(stream()), kInner);
  ExpectMessage(kInner, {op.binding.name, "executor"});
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
}

void PhaseTwoSuite::ConsumedExecutorBesideLiveOnes(const ContractDescription& op) {
  const std::vector<std::byte> expected = ExpectedBytes(op, stream());
  const BuiltCall consumed_call(ValidCall(op));
  const Planned consumed = Plan(op, consumed_call);
  EXPECT_EQ(consumed.Run(stream()), 0);

  std::vector<std::unique_ptr<BuiltCall>> calls;
  std::vector<Planned> live;
  for (int i = 0; i < 500; ++i) {
    calls.push_back(std::make_unique<BuiltCall>(ValidCall(op)));
    live.push_back(Plan(op, *calls.back()));
  }
  std::vector<const aclOpExecutor*> distinct;
  for (const Planned& one : live) distinct.push_back(one.executor);
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (!std::binary_search(distinct.begin(), distinct.end(), consumed.executor)) {
    EXPECT_EQ(consumed.Run(stream()), kInner);
    TakeErrorMessage();
  }
  for (size_t i = live.size(); i-- > 0;) {
    EXPECT_EQ(live[i].Run(stream()), 0);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  for (const auto& call : calls) {
    EXPECT_EQ(call->OutputBytes(), expected);
  }
}

void PhaseTwoSuite::NullWorkspaceWithSize(const ContractDescription& op) {
  const BuiltCall call(ValidCall(op));
  const std::vector<std::byte> before = call.OutputBytes();
  const Planned planned = Plan(op, call);
  EXPECT_EQ(op.binding.run(nullptr, 64, planned.executor, stream()), kNullptr);
  ExpectMessage(kNullptr, {op.binding.name, "workspace"});
  EXPECT_EQ(planned.Run(stream()), kInner) << "a failing phase 2 consumes the executor too";
  TakeErrorMessage();
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  EXPECT_EQ(call.OutputBytes(), before);
}

void PhaseTwoSuite::NullStreamWithoutDevice(const ContractDescription& op) {
  const BuiltCall call(ValidCall(op));
  const std::vector<std::byte> before = call.OutputBytes();
  const Planned planned = Plan(op, call);
  OnThreadWithoutDevice([&] {
    EXPECT_EQ(planned.Run(nullptr), kRuntimeError);
    ExpectMessage(kRuntimeError, {op.binding.name, "stream"});
  });
  EXPECT_EQ(planned.Run(nullptr), kInner) << "a failing phase 2 consumes the executor too";
  TakeErrorMessage();
  EXPECT_EQ(call.OutputBytes(), before);
  // With a device the null stream is the device's default stream.
  const Planned again = Plan(op, call);
  EXPECT_EQ(again.Run(nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(call.OutputBytes(), ExpectedBytes(op, stream()));
}

void PhaseTwoSuite::UnknownStream(const ContractDescription& op) {
  aclrtStream destroyed = nullptr;
  ASSERT_EQ(aclrtCreateStream(&destroyed), 0);
  ASSERT_EQ(aclrtDestroyStream(destroyed), 0);
  alignas(64) std::byte zeros[4096] = {};
  const BuiltCall call(ValidCall(op));
  const std::vector<std::byte> before = call.OutputBytes();
  for (const aclrtStream unknown : {static_cast<aclrtStream>(zeros), ForbiddenAddress(), destroyed}) {
    const Planned planned = Plan(op, call);
    EXPECT_EQ(planned.Run(unknown), kRuntimeError);
    ExpectMessage(kRuntimeError, {op.binding.name, "stream"});
    EXPECT_EQ(planned.Run(stream()), kInner) << "a failing phase 2 consumes the executor too";
    TakeErrorMessage();
  }
  EXPECT_EQ(call.OutputBytes(), before);
}

void PhaseTwoSuite::AddressesSetAnew(const ContractDescription& op) {
  const CallSpec spec = ValidCall(op);
  const BuiltCall call(spec);
  const int64_t one = 1;
  aclTensor* const any = aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr);
  const size_t count = op.binding.tensors.size();
  const size_t past = count + (op.binding.output == 0 ? 1 : 0);  // in place: the input before it
  for (size_t slot = 0; slot < count; ++slot) {
    if (spec.tensors()[slot].null) continue;
    const std::vector<std::string>& unread = op.binding.unread_inputs;
    if (std::find(unread.begin(), unread.end(), op.binding.tensors[slot]) != unread.end()) continue;
    const Planned planned = Plan(op, call);
    EXPECT_EQ(aclSetTensorAddr(planned.executor, past, any, nullptr), 161002) << op.binding.name;
    TakeErrorMessage();
    EXPECT_EQ(aclSetTensorAddr(planned.executor, slot, any, nullptr), 0) << op.binding.name << " " << slot;
    EXPECT_EQ(planned.Run(stream()), kNullptr) << op.binding.name << " " << slot;
    ExpectMessage(kNullptr, {op.binding.name, op.binding.tensors[slot]});
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  }
  aclDestroyTensor(any);
}

void PhaseTwoSuite::TensorWithoutAddress(const ContractDescription& op) {
  for (size_t i = 0; i < op.binding.tensors.size(); ++i) {
    CallSpec spec = ValidCall(op);
    if (spec.tensors()[i].null) continue;
    spec.tensors()[i].without_data = true;
    const BuiltCall call(spec);
    const std::vector<std::byte> before = call.OutputBytes();
    const Planned planned = Plan(op, call);
    const std::vector<std::string>& unread = op.binding.unread_inputs;
    if (std::find(unread.begin(), unread.end(), op.binding.tensors[i]) != unread.end()) {
      EXPECT_EQ(planned.Run(stream()), 0) << TakeErrorMessage();
      EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
      EXPECT_EQ(call.OutputBytes(), ExpectedBytes(op, stream())) << op.binding.tensors[i];
      continue;
    }
    EXPECT_EQ(planned.Run(stream()), kNullptr) << op.binding.tensors[i];
    ExpectMessage(kNullptr, {op.binding.name, op.binding.tensors[i]});
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
    EXPECT_EQ(call.OutputBytes(), before);
  }
  if (!op.empty) return;
  // An empty tensor needs no address.
  CallSpec spec = ValidCall(op);
  op.empty(spec);
  const BuiltCall call(spec);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(op.binding.plan(call.handles(), {}, &size, &executor), 0) << TakeErrorMessage();
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), 0) << TakeErrorMessage();
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
}

void PhaseTwoSuite::PhasesOnDifferentThreads(const ContractDescription& op) {
  const std::vector<std::byte> expected = ExpectedBytes(op, stream());
  BuiltCall call(ValidCall(op));
  Planned planned;
  std::thread([&] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    planned = Plan(op, call);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  }).join();
  std::thread([&] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(planned.Run(stream()), 0) << TakeErrorMessage();
    call.DestroyHandles();  // legal once phase 2 has returned, before any synchronisation
    EXPECT_EQ(aclrtResetDevice(0), 0);
  }).join();
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  EXPECT_EQ(call.OutputBytes(), expected);
}

void PhaseTwoSuite::MessagesBelongToTheirThread(const ContractDescription& op) {
  EXPECT_EQ(op.binding.run(nullptr, 0, nullptr, stream()), kNullptr);
  OnThreadWithoutDevice([&] {
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "another thread's message";
    alignas(64) std::byte zeros[4096] = {};
    EXPECT_EQ(op.binding.run(nullptr, 0, reinterpret_cast<aclOpExecutor*>(zeros), stream()), kInner);
  });
  const std::string message = TakeErrorMessage();
  EXPECT_TRUE(MessageSays(message, kNullptr, {op.binding.name, "executor"}));
  EXPECT_EQ(message.find("EZ9999"), std::string::npos) << message;
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

void WorksWithoutInit(const ContractDescription& op) {
  // Starts a fresh process, which runs this test up to the statement, so that nothing was initialised before.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const BuiltCall call(ValidCall(op));
        const std::vector<std::byte> before = call.OutputBytes();
        for (const Variable& variable : op.settings) setenv(variable.name.c_str(), variable.value.c_str(), 1);
        const bool has_device = aclrtSetDevice(0) == 0;
        const Planned planned = Plan(op, call);
        const bool done = has_device && planned.executor != nullptr && planned.Run(nullptr) == 0 &&
                          aclrtSynchronizeStream(nullptr) == 0;
        std::exit(done && call.OutputBytes() != before ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace portacl::testing
