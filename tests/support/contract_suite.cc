// The contract tests of every operator: see contract_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include "contract_suite.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
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

std::atomic<int64_t> rows_checked{0};

class RowCount : public ::testing::Environment {
 public:
  void TearDown() override {
    if (rows_checked > 0) {
      std::printf("contract cases: %lld\n", static_cast<long long>(rows_checked));
    }
  }
};
[[maybe_unused]] const ::testing::Environment* const kRowCount =
    ::testing::AddGlobalTestEnvironment(new RowCount);

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

aclOpExecutor* Plan(const ContractDescription& op, const BuiltCall& call, const Attributes& attributes = {}) {
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(op.binding.plan(call.handles(), attributes, &workspace_size, &executor), 0) << TakeErrorMessage();
  EXPECT_EQ(workspace_size, 0u);
  return executor;
}

// Returns the bytes that an undisturbed call writes, for comparison.
std::vector<std::byte> ExpectedBytes(const ContractDescription& op, aclrtStream stream) {
  const BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
  EXPECT_EQ(op.binding.run(nullptr, 0, Plan(op, call), stream), 0);
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

std::map<Product, Answer> On(const std::vector<Product>& products, const Answer& answer) {
  std::map<Product, Answer> answers;
  for (const Product product : products) {
    answers[product] = answer;
  }
  return answers;
}

BuiltCall::BuiltCall(const CallSpec& spec, Data data) : output_(spec.output) {
  for (const TensorSpec& tensor : spec.tensors()) {
    if (tensor.null) {
      handles_.push_back(nullptr);
      storage_.push_back(nullptr);
      continue;
    }
    void* address = ForbiddenAddress();
    storage_.push_back(nullptr);
    if (tensor.without_data) {
      address = nullptr;
    } else if (data == Data::kReal) {
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
    std::optional<std::vector<int64_t>> strides = tensor.strides;
    if (tensor.every_stride) {
      strides = std::vector<int64_t>(tensor.shape.size(), *tensor.every_stride);
    }
    const Shape& storage_dims = tensor.storage_dims ? *tensor.storage_dims : tensor.shape;
    handles_.push_back(aclCreateTensor(tensor.shape.data(), tensor.shape.size(), AsAclDataType(tensor.dtype),
                                       strides ? strides->data() : nullptr, tensor.offset,
                                       static_cast<aclFormat>(tensor.format), storage_dims.data(),
                                       storage_dims.size(), address));
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

bool CheckPlan(const OperatorBinding& binding, const CallSpec& spec, aclnnStatus code,
               const std::vector<std::string>& fragments, const std::string& name) {
  ++rows_checked;
  const int before = ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  SCOPED_TRACE(name);
  const BuiltCall call(spec, BuiltCall::Data::kForbidden);
  constexpr uint64_t kUntouchedSize = 0xDEADBEEFCAFEF00D;
  aclOpExecutor* const untouched_executor = static_cast<aclOpExecutor*>(ForbiddenAddress());
  uint64_t workspace_size = kUntouchedSize;
  aclOpExecutor* executor = untouched_executor;

  const aclnnStatus status =
      binding.plan(call.handles(), spec.attributes, spec.null_workspace_size ? nullptr : &workspace_size,
                   spec.null_executor ? nullptr : &executor);
  const std::string message = TakeErrorMessage();
  EXPECT_EQ(status, code) << message;
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "reading the message clears it";
  if (status != 0) {
    EXPECT_EQ(workspace_size, kUntouchedSize) << "a failure must leave the workspace size as it was";
    EXPECT_EQ(executor, untouched_executor) << "a failure must leave the executor as it was";
    if (status == code) {
      EXPECT_TRUE(MessageSays(message, code, fragments));
      // Searches for a substring, since the message may name the function of the phase.
      EXPECT_NE(message.find(binding.name), std::string::npos) << message;
    }
  } else {
    EXPECT_EQ(message, "");
    std::vector<Shape> shapes;
    for (const TensorSpec& tensor : spec.tensors()) {
      shapes.push_back(tensor.shape);
    }
    EXPECT_NE(workspace_size, kUntouchedSize);
    if (!binding.may_need_workspace(shapes)) {
      EXPECT_EQ(workspace_size, 0u);
    }
    EXPECT_NE(executor, untouched_executor);
    EXPECT_NE(executor, nullptr);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
  }
  return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() == before;
}

void ContractSuite::Rows(const ContractDescription& op) {
  const Product product = GetParam();
  const bool no_device = product == Product::kNoDevice;
  const ScopedEnvironment environment(
      Variables{{"PORTACL_SOC", SocNameOf(product)}},
      no_device ? ScopedEnvironment::Start::kWithoutDevice : ScopedEnvironment::Start::kWithDevice);
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  int answered_otherwise = 0;
  aclnnStatus valid_call = -1;
  const auto check_all = [&] {
    const BuiltCall valid(ValidCall(op), BuiltCall::Data::kForbidden);
    uint64_t workspace_size = 0;
    aclOpExecutor* executor = nullptr;
    valid_call = op.binding.plan(valid.handles(), {}, &workspace_size, &executor);
    if (valid_call == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    TakeErrorMessage();
    for (const Row& row : op.rows) {
      CallSpec spec = ValidCall(op);
      row.deviate(spec);
      const auto found = row.elsewhere.find(product);
      const Answer answer = found != row.elsewhere.end() ? found->second : Answer{row.code, {}};
      answered_otherwise += answer.code != row.code ? 1 : 0;
      CheckPlan(op.binding, spec, answer.code, answer.fragments.value_or(row.fragments), row.name);
    }
  };
  if (no_device) {
    OnThreadWithoutDevice(check_all);
  } else {
    check_all();
  }
  // docs/conformance.md is generated from these properties.
  RecordProperty("contract_rows", static_cast<int>(op.rows.size()));
  RecordProperty("answered_otherwise", answered_otherwise);
  RecordProperty("valid_call", static_cast<int>(valid_call));
}

void PhaseTwoSuite::FirstFaultIsReported(const ContractDescription& op) {
  int pairs = 0;
  for (size_t first = 0; first < op.faults.size(); ++first) {
    for (size_t second = first; second < op.faults.size(); ++second) {  // first with itself
      CallSpec spec = ValidCall(op);
      op.faults[second].deviate(spec);
      op.faults[first].deviate(spec);
      CheckPlan(op.binding, spec, op.faults[first].code, {op.faults[first].token},
                op.faults[first].name + " before " + op.faults[second].name);
      ++pairs;
    }
  }
  RecordProperty("fault_pairs", pairs);
}

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
  const BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
  aclOpExecutor* executor = Plan(op, call);
  EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), 0);
  EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), kInner);
  ExpectMessage(kInner, {op.binding.name, "executor"});
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
}

void PhaseTwoSuite::ConsumedExecutorBesideLiveOnes(const ContractDescription& op) {
  const std::vector<std::byte> expected = ExpectedBytes(op, stream());
  const BuiltCall consumed_call(ValidCall(op), BuiltCall::Data::kReal);
  aclOpExecutor* consumed = Plan(op, consumed_call);
  EXPECT_EQ(op.binding.run(nullptr, 0, consumed, stream()), 0);

  std::vector<std::unique_ptr<BuiltCall>> calls;
  std::vector<aclOpExecutor*> live;
  for (int i = 0; i < 500; ++i) {
    calls.push_back(std::make_unique<BuiltCall>(ValidCall(op), BuiltCall::Data::kReal));
    live.push_back(Plan(op, *calls.back()));
  }
  std::vector<aclOpExecutor*> distinct = live;
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (std::find(live.begin(), live.end(), consumed) == live.end()) {
    EXPECT_EQ(op.binding.run(nullptr, 0, consumed, stream()), kInner);
    TakeErrorMessage();
  }
  for (size_t i = live.size(); i-- > 0;) {
    EXPECT_EQ(op.binding.run(nullptr, 0, live[i], stream()), 0);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  for (const auto& call : calls) {
    EXPECT_EQ(call->OutputBytes(), expected);
  }
}

void PhaseTwoSuite::NullWorkspaceWithSize(const ContractDescription& op) {
  const BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
  const std::vector<std::byte> before = call.OutputBytes();
  aclOpExecutor* executor = Plan(op, call);
  EXPECT_EQ(op.binding.run(nullptr, 64, executor, stream()), kNullptr);
  ExpectMessage(kNullptr, {op.binding.name, "workspace"});
  EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), kInner)
      << "a failing phase 2 consumes the executor too";
  TakeErrorMessage();
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  EXPECT_EQ(call.OutputBytes(), before);
}

void PhaseTwoSuite::NullStreamWithoutDevice(const ContractDescription& op) {
  const BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
  const std::vector<std::byte> before = call.OutputBytes();
  aclOpExecutor* executor = Plan(op, call);
  OnThreadWithoutDevice([&] {
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, nullptr), kRuntimeError);
    ExpectMessage(kRuntimeError, {op.binding.name, "stream"});
  });
  EXPECT_EQ(op.binding.run(nullptr, 0, executor, nullptr), kInner)
      << "a failing phase 2 consumes the executor too";
  TakeErrorMessage();
  EXPECT_EQ(call.OutputBytes(), before);
  // With a device the null stream is the device's default stream.
  EXPECT_EQ(op.binding.run(nullptr, 0, Plan(op, call), nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  EXPECT_EQ(call.OutputBytes(), ExpectedBytes(op, stream()));
}

void PhaseTwoSuite::UnknownStream(const ContractDescription& op) {
  aclrtStream destroyed = nullptr;
  ASSERT_EQ(aclrtCreateStream(&destroyed), 0);
  ASSERT_EQ(aclrtDestroyStream(destroyed), 0);
  alignas(64) std::byte zeros[4096] = {};
  const BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
  const std::vector<std::byte> before = call.OutputBytes();
  for (const aclrtStream unknown : {static_cast<aclrtStream>(zeros), ForbiddenAddress(), destroyed}) {
    aclOpExecutor* executor = Plan(op, call);
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, unknown), kRuntimeError);
    ExpectMessage(kRuntimeError, {op.binding.name, "stream"});
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), kInner)
        << "a failing phase 2 consumes the executor too";
    TakeErrorMessage();
  }
  EXPECT_EQ(call.OutputBytes(), before);
}

void PhaseTwoSuite::AddressesSetAnew(const ContractDescription& op) {
  CallSpec spec = ValidCall(op);
  const BuiltCall call(spec, BuiltCall::Data::kReal);
  const int64_t one = 1;
  aclTensor* const any = aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr);
  const size_t count = op.binding.tensors.size();
  const size_t past = count + (op.binding.output == 0 ? 1 : 0);  // in place: the input before it
  for (size_t slot = 0; slot < count; ++slot) {
    const std::vector<std::string>& unread = op.binding.unread_inputs;
    if (std::find(unread.begin(), unread.end(), op.binding.tensors[slot]) != unread.end()) continue;
    aclOpExecutor* const executor = Plan(op, call);
    EXPECT_EQ(aclSetTensorAddr(executor, past, any, nullptr), 161002) << op.binding.name;
    TakeErrorMessage();
    EXPECT_EQ(aclSetTensorAddr(executor, slot, any, nullptr), 0) << op.binding.name << " " << slot;
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), kNullptr) << op.binding.name << " " << slot;
    ExpectMessage(kNullptr, {op.binding.name, op.binding.tensors[slot]});
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
  }
  aclDestroyTensor(any);
}

void PhaseTwoSuite::TensorWithoutAddress(const ContractDescription& op) {
  for (size_t i = 0; i < op.binding.tensors.size(); ++i) {
    CallSpec spec = ValidCall(op);
    spec.tensors()[i].without_data = true;
    const BuiltCall call(spec, BuiltCall::Data::kReal);
    const std::vector<std::byte> before = call.OutputBytes();
    aclOpExecutor* executor = Plan(op, call);
    const std::vector<std::string>& unread = op.binding.unread_inputs;
    if (std::find(unread.begin(), unread.end(), op.binding.tensors[i]) != unread.end()) {
      EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), 0) << TakeErrorMessage();
      EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
      EXPECT_EQ(call.OutputBytes(), ExpectedBytes(op, stream())) << op.binding.tensors[i];
      continue;
    }
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), kNullptr) << op.binding.tensors[i];
    ExpectMessage(kNullptr, {op.binding.name, op.binding.tensors[i]});
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
    EXPECT_EQ(call.OutputBytes(), before);
  }
  // An empty tensor needs no address.
  CallSpec spec = ValidCall(op);
  for (TensorSpec& tensor : spec.tensors()) {
    if (tensor.shape.empty()) continue;  // a scalar, which cannot be empty
    tensor.shape = {0, 3};
    tensor.without_data = true;
  }
  const BuiltCall call(spec, BuiltCall::Data::kReal);
  EXPECT_EQ(op.binding.run(nullptr, 0, Plan(op, call), stream()), 0) << TakeErrorMessage();
  EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
}

void PhaseTwoSuite::PhasesOnDifferentThreads(const ContractDescription& op) {
  const std::vector<std::byte> expected = ExpectedBytes(op, stream());
  BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
  aclOpExecutor* executor = nullptr;
  std::thread([&] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    executor = Plan(op, call);
    EXPECT_EQ(aclrtResetDevice(0), 0);
  }).join();
  std::thread([&] {
    EXPECT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(op.binding.run(nullptr, 0, executor, stream()), 0) << TakeErrorMessage();
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
        const BuiltCall call(ValidCall(op), BuiltCall::Data::kReal);
        const std::vector<std::byte> before = call.OutputBytes();
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        const bool done =
            aclrtSetDevice(0) == 0 && op.binding.plan(call.handles(), {}, &size, &executor) == 0 &&
            op.binding.run(nullptr, 0, executor, nullptr) == 0 && aclrtSynchronizeStream(nullptr) == 0;
        std::exit(done && call.OutputBytes() != before ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace portacl::testing
