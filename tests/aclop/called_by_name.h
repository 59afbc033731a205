// A call of an operator by the name of its type: operands, values on the host and attributes, added one after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"

namespace portacl::testing {

using Dims = std::vector<int64_t>;
using Floats = std::vector<float>;

inline size_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_t{1},
                         [](size_t product, int64_t dim) { return product * static_cast<size_t>(dim); });
}

inline std::string TakeMessage() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

class CalledByName {
 public:
  explicit CalledByName(std::string type) : type_(std::move(type)), attributes_(aclopCreateAttr()) {}
  CalledByName(const CalledByName&) = delete;
  CalledByName& operator=(const CalledByName&) = delete;
  ~CalledByName() {
    for (const Operands* operands : {&in_, &out_}) {
      for (const aclTensorDesc* one : operands->descriptions) aclDestroyTensorDesc(one);
      for (const aclDataBuffer* one : operands->buffers) aclDestroyDataBuffer(one);
    }
    aclopDestroyAttr(attributes_);
  }

  // An input in device memory. The data must outlive the work.
  template <class T>
  CalledByName& In(aclDataType dtype, const Dims& dims, std::vector<T>& data) {
    Add(in_, dtype, dims, data.data(), data.size() * sizeof(T));
    return *this;
  }
  CalledByName& In(const Dims& dims, Floats& data) { return In(ACL_FLOAT, dims, data); }
  // A constant in host memory, which may go when the call has returned.
  CalledByName& Ints(const Dims& values) {
    kept_.push_back(std::make_unique<std::vector<char>>(values.size() * 8));
    if (!values.empty()) std::memcpy(kept_.back()->data(), values.data(), values.size() * 8);
    Add(in_, ACL_INT64, {static_cast<int64_t>(values.size())}, kept_.back()->data(), values.size() * 8);
    aclSetTensorPlaceMent(in_.descriptions.back(), ACL_MEMTYPE_HOST);
    return *this;
  }
  template <class T>
  CalledByName& Value(aclDataType dtype, T value) {
    kept_.push_back(std::make_unique<std::vector<char>>(sizeof(T)));
    std::memcpy(kept_.back()->data(), &value, sizeof(T));
    Add(in_, dtype, {}, kept_.back()->data(), sizeof(T));
    aclSetTensorPlaceMent(in_.descriptions.back(), ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT);
    return *this;
  }
  // An input that is left out, as PyTorch's NPU back end says it.
  CalledByName& Nothing() {
    Add(in_, ACL_DT_UNDEFINED, {}, nullptr, 0);
    return *this;
  }
  template <class T>
  CalledByName& Out(aclDataType dtype, const Dims& dims, std::vector<T>& data) {
    Add(out_, dtype, dims, data.data(), data.size() * sizeof(T));
    return *this;
  }
  CalledByName& Out(const Dims& dims, Floats& data) { return Out(ACL_FLOAT, dims, data); }
  CalledByName& OutOnHost(const Dims& dims, Floats& data) {
    Out(dims, data);
    aclSetTensorPlaceMent(out_.descriptions.back(), ACL_MEMTYPE_HOST);
    return *this;
  }

  CalledByName& Flag(const char* name, bool value) {
    aclopSetAttrBool(attributes_, name, value);
    return *this;
  }
  CalledByName& Int(const char* name, int64_t value) {
    aclopSetAttrInt(attributes_, name, value);
    return *this;
  }
  CalledByName& Float(const char* name, float value) {
    aclopSetAttrFloat(attributes_, name, value);
    return *this;
  }
  CalledByName& Word(const char* name, const char* value) {
    aclopSetAttrString(attributes_, name, value);
    return *this;
  }
  CalledByName& List(const char* name, const Dims& values) {
    aclopSetAttrListInt(attributes_, name, static_cast<int>(values.size()), values.data());
    return *this;
  }

  aclError Launch(aclrtStream stream) {
    return aclopCompileAndExecute(
        type_.c_str(), static_cast<int>(in_.buffers.size()), in_.descriptions.data(), in_.buffers.data(),
        static_cast<int>(out_.buffers.size()), out_.descriptions.data(), out_.buffers.data(), attributes_,
        ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
  }
  // Launches and waits; returns the first error.
  aclError Run(aclrtStream stream) {
    if (const aclError status = Launch(stream)) return status;
    return aclrtSynchronizeStream(stream);
  }

 private:
  struct Operands {
    std::vector<aclTensorDesc*> descriptions;
    std::vector<aclDataBuffer*> buffers;
  };

  static void Add(Operands& to, aclDataType dtype, const Dims& dims, void* data, size_t size) {
    to.descriptions.push_back(
        aclCreateTensorDesc(dtype, static_cast<int>(dims.size()), dims.data(), ACL_FORMAT_ND));
    to.buffers.push_back(aclCreateDataBuffer(data, size));
  }

  const std::string type_;
  aclopAttr* const attributes_;
  Operands in_;
  Operands out_;
  std::vector<std::unique_ptr<std::vector<char>>> kept_;
};

// The same numbers for everybody, from `least` to `most`.
inline Floats Numbers(size_t count, float least = -4.0f, float most = 4.0f) {
  Floats numbers;
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(least + (most - least) * static_cast<float>(i * 37 % 101) / 100.0f);
  return numbers;
}

}  // namespace portacl::testing
