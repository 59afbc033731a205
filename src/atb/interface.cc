// Contexts and operations as ATB's clients call them. One context serves all threads of a process; an
// operation serves any shapes.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "atb/abi.h"
#include "atb/native_calls.h"
#include "atb/operations.h"

namespace atb {
namespace {

// Thread-local, because several threads share one context and each sets its stream before each Setup.
thread_local aclrtStream stream_of_thread = nullptr;
// The operation and the stream of this thread's last Setup. Execute may run on another thread, where the
// stream is not set.
struct LastSetup {
  const Operation* operation = nullptr;
  aclrtStream stream = nullptr;
};
thread_local LastSetup last_setup;

class TheContext final : public Context {
 public:
  Status SetExecuteStream(aclrtStream stream) override {
    stream_of_thread = stream;
    return kNoError;
  }
  aclrtStream GetExecuteStream() const override { return stream_of_thread; }
  Status SetAsyncTilingCopyStatus(bool status) override {
    copies_async_ = status;
    return kNoError;
  }
  bool GetAsyncTilingCopyStatus() const override { return copies_async_; }

 private:
  std::atomic<bool> copies_async_{false};
};

void Log(const std::string& name, const std::string& sentence) {
  aclAppLog(ACL_ERROR, "atb", __FILE__, __LINE__, "%s: %s", name.c_str(), sentence.c_str());
}

// Runs body(), and turns an exception into a status code and a line of the log.
template <class Body>
Status Guarded(const std::string& name, const Body& body) noexcept {
  try {
    return body();
  } catch (const Refusal& refusal) {
    Log(name, refusal.sentence);
    return refusal.status;
  } catch (const std::bad_alloc&) {
    return kNoHostMemory;
  } catch (const std::exception& other) {
    Log(name, other.what());
    return kInternalError;
  }
}

class Described final : public Operation {
 public:
  explicit Described(Description description) : description_(std::move(description)) {}

  std::string GetName() const override { return description_.name; }
  // Always refuses: clients allocate outputs themselves.
  Status InferShape(const SVector<TensorDesc>&, SVector<TensorDesc>&) const override {
    Log(description_.name, "InferShape is not supported: outputs are the caller's");
    return kInvalidOperation;
  }
  uint32_t GetInputNum() const override { return description_.counts.in; }
  uint32_t GetOutputNum() const override { return description_.counts.out; }

  Status Setup(const VariantPack& pack, uint64_t& workspaceSize, Context* context) override {
    return Guarded(description_.name, [&] {
      if (context == nullptr) Refuse(kInvalidContext, "the context is null");
      Expect(pack);
      last_setup = {this, context->GetExecuteStream()};
      stream_ = last_setup.stream;
      Calls calls(nullptr, pack.out[0], last_setup.stream);
      description_.make(pack, calls);
      workspaceSize = calls.Measure();
      return kNoError;
    });
  }

  Status Execute(const VariantPack& pack, uint8_t* workspace, uint64_t workspaceSize,
                 Context* context) override {
    return Guarded(description_.name, [&] {
      if (context == nullptr) Refuse(kInvalidContext, "the context is null");
      Expect(pack);
      if (workspace == nullptr && workspaceSize > 0) Refuse(kInvalidWorkspace, "the workspace is null");
      Calls calls(workspace, pack.out[0], last_setup.operation == this ? last_setup.stream : stream_.load());
      description_.make(pack, calls);
      calls.Queue(workspaceSize);
      return kNoError;
    });
  }

 private:
  void Expect(const VariantPack& pack) const {
    const Counts counts = description_.counts;
    if (pack.in.count != counts.in || pack.out.count != counts.out) {
      Refuse(kInvalidTensorCount, std::to_string(pack.in.count) + " tensors in and " +
                                      std::to_string(pack.out.count) + " out, expected " +
                                      std::to_string(counts.in) + " and " + std::to_string(counts.out));
    }
    for (uint32_t i = 0; i < counts.out; ++i) {
      if (pack.out[i].deviceData == nullptr && pack.out[i].dataSize > 0)
        Refuse(kInvalidTensorAddress, "output " + std::to_string(i) + " has no address on the device");
    }
  }

  const Description description_;
  std::atomic<aclrtStream> stream_{nullptr};
};

}  // namespace

Status CreateDescribed(const std::function<Description()>& describe, const char* name,
                       Operation** operation) noexcept {
  if (operation == nullptr) return kInvalidOperation;
  *operation = nullptr;
  return Guarded(name, [&] {
    *operation = new Described(describe());
    return kNoError;
  });
}

Status CreateContext(Context** context) {
  if (context == nullptr) return kInvalidContext;
  *context = new (std::nothrow) TheContext;
  return *context == nullptr ? kNoHostMemory : kNoError;
}

Status DestroyContext(Context* context) {
  delete context;
  return kNoError;
}

Status DestroyOperation(Operation* operation) {
  delete operation;
  return kNoError;
}

uint64_t Utils::GetTensorSize(const Tensor& tensor) {
  const Dims& shape = tensor.desc.shape;
  uint64_t size = aclDataTypeSize(tensor.desc.dtype);
  for (uint64_t dim = 0; dim < shape.dimNum && dim < kMostDims; ++dim)
    size *= static_cast<uint64_t>(shape.dims[dim]);
  return shape.dimNum == 0 ? 0 : size;
}

}  // namespace atb
