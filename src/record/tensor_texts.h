// Describes arguments and results of an operator to a recording: what _Contents.joined of
// python/portacl/recording/_capture.py does, for tensors that the device's thread summarises (deferred_calls.cc). What
// it does not know it leaves to that class. All of it is called with Python's lock and with the recorder's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/python_objects.h"

namespace portacl::record {

// Python hands over a tuple of these, in this order (Recorder._compiled of _capture.py).
struct Known {
  Object *recorder, *deferred, *handle, *tensor_functions, *acquire, *release;
  Object *seen, *storages, *parameters, *uncached;
  Object *tensor_type, *parameter_type, *size_type, *device_type, *named_types;
  Object *none, *yes, *no, *int_type, *float_type, *text_type, *list_type, *tuple_type;
  Object *form_of, *contents_type, *free_memory, *quote, *remembered, *named;
  Object *not_implemented, *exception, *runtime_error;
  Object *graph_task, *autograd_node, *next_sequence, *is_grad_enabled, *current_module, *synchronize;
};
inline constexpr Size kKnown = sizeof(Known) / sizeof(void*);

// The C interface of PyTorch that tells of a tensor (torch/csrc/inductor/aoti_torch/c/shim.h), which is stable. A
// handle is the address of an at::Tensor, and that is a pointer to what Python knows as _cdata. All return 0, or an
// error. Python hands over their addresses in this order.
struct TensorFunctions {
  int (*layout)(void* const* tensor, std::int32_t* layout);
  int (*dtype)(void* const* tensor, std::int32_t* dtype);
  int (*device_type)(void* const* tensor, std::int32_t* type);
  int (*device_index)(void* const* tensor, std::int32_t* index);
  int (*rank)(void* const* tensor, std::int64_t* rank);
  int (*sizes)(void* const* tensor, std::int64_t** sizes);
  int (*strides)(void* const* tensor, std::int64_t** strides);
  int (*address)(void* const* tensor, void** address);
  int (*offset)(void* const* tensor, std::int64_t* offset);
  int (*storage_bytes)(void* const* tensor, std::int64_t* bytes);
};
inline constexpr Size kTensorFunctions = sizeof(TensorFunctions) / sizeof(void*);

// A tensor's dtype, device, shape and place.
struct Facts {
  void* tensor;
  std::int32_t dtype;
  std::int32_t device_type;
  std::int32_t device;
  std::size_t rank;
  const std::int64_t* sizes;
  const std::int64_t* strides;
  std::int64_t address;
};

// _Form of _capture.py.
struct Form {
  Ref object;
  std::int32_t dtype;
  std::int32_t device_type;
  std::int32_t device;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::string start;  // without the brace
  std::string order_text;
  std::int64_t count;
  std::int64_t extent;
  std::int64_t item_size;
  bool is_in_order;
  bool is_complex;
  std::vector<std::int64_t> request;  // empty where the device's thread cannot summarise such tensors

  bool Fits(const Facts& facts) const;
};

// A view of some memory that was described.
struct View {
  std::int64_t address;
  std::shared_ptr<const Form> form;
  bool needs_grad;
  bool is_parameter;

  bool operator==(const View&) const = default;
};

// Arguments or results of one call, while they are described.
struct Contents {
  std::vector<std::int64_t> words;  // requests for summaries
  std::vector<Ref> new_ones;        // tensors that calls may name from the next one on
  bool needs_grad = false;
  std::optional<Ref> python;    // a _Contents, if one was needed
  Object* arguments = nullptr;  // of the call, once it was made
  Object* named_arguments = nullptr;
};

class TensorTexts {
 public:
  explicit TensorTexts(const Known& known);

  // Appends the JSON of a value.
  void Add(Contents& contents, Object* value, std::string& text);

  // Appends the JSON of the items of a list or tuple, with commas.
  void AddAll(Contents& contents, Object* values, std::string& text);

  // Appends the JSON of a value whose elements mean nothing yet.
  void AddShape(Contents& contents, Object* value, std::string& text);

  // Appends the JSON of a tensor; returns false where only Python can tell it.
  bool AddTensor(Contents& contents, Object* tensor, std::string& text);

  // Appends a text as JSON.
  void AddQuoted(std::string_view text, std::string& to) const;

  // From now on calls may name the new tensors by their numbers.
  void See(Contents& contents);

  // Forgets what is known of the elements of a tensor.
  void Forget(Object* tensor);

  // Appends what a method of a _Contents says of a value.
  void AddByPython(Contents& contents, const Name& method, Object* value, std::string& text);

  // Goes on from arguments to results.
  void BeginAgain(const Contents& contents) const {
    (void)names_.begin_again.Call(contents.python->get(), contents.arguments, contents.named_arguments);
  }

  // Takes over what Python has found out.
  void Merge(Contents& contents);

  bool IsTensor(Object* value) const {
    return value->type == known_.tensor_type || value->type == known_.parameter_type;
  }
  bool IsList(Object* value) const {
    return value->type == known_.list_type || value->type == known_.tuple_type ||
           value->type == known_.size_type;
  }

 private:
  struct Memory;
  struct Seen;

  bool Read(Object* tensor, Facts& facts) const;
  std::shared_ptr<const Form> FormOf(const Facts& facts, Object* tensor);
  Ref MemoryOf(Object* storage, const Ref& place) const;
  const Seen* SeenOf(Object* tensor, const Ref& key, const Facts& facts, bool needs_grad) const;
  Object* NameOf(Object* tensor, const Ref& key) const;
  void Request(Contents& contents, const Facts& facts, const std::shared_ptr<const Form>& form,
               Memory& memory);
  void AddWhatIsSame(const Form& form, std::int64_t offset, std::int64_t storage, bool is_parameter,
                     bool needs_grad, std::string& text) const;

  static Object* NewMemory(Object* type, Object* arguments, Object* named_arguments);
  static void EndMemory(Object* object);
  static Object* CallSeen(Object* object, Object* arguments, Object* named_arguments);
  static void EndSeen(Object* object);
  static Object* MakeType(const char* name, int size, Member* members, void* end, int slot, void* content);

  struct Names {
    Name requires_grad{"requires_grad"}, is_neg{"is_neg"}, untyped_storage{"untyped_storage"},
        cdata{"_cdata"};
    Name weak_ref{"_weak_ref"};
    Name start{"start"}, order_text{"order_text"}, count{"count"}, extent{"extent"}, item_size{"item_size"};
    Name order{"order"}, is_complex{"is_complex"}, request{"request"};
    Name tensor_count{"_tensor_count"}, summaries{"summaries"}, prune_seen{"_prune_seen"};
    Name prune_seen_at{"_prune_seen_at"}, find_memory{"_known"}, memory_type{"_storage_type"};
    Name needs_grad{"needs_grad"}, work{"work"}, new_ones{"new"}, begin_again{"begin_again"};
    Name see{"_see"}, json{"json"}, shape{"shape"}, anew{"anew"};
  };

  const Known known_;
  const Names names_;
  TensorFunctions torch_ = {};
  Object* memory_type_ = nullptr;
  Object* seen_type_ = nullptr;
  const long long remembered_;
  const long long named_;
  long long tensor_count_ = 0;  // _tensor_count of the recorder
  long long summaries_ = 0;     // of Deferred
  long long prune_seen_at_ = 0;
  std::unordered_map<std::string, std::shared_ptr<const Form>> forms_;
  std::string form_key_;
  std::unordered_map<Object*, std::pair<Ref, std::string>> constants_;  // dtypes and the like
};

}  // namespace portacl::record
