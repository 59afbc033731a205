// Records the operators of PyTorch whose tensors the device's thread summarises: what Recorder._dispatch and what that calls
// in python/portacl/recording/_capture.py do, which records where this is not there. What is rare is left to Python.
//
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/call_origins.h"
#include "record/deferred_calls.h"
#include "record/tensor_texts.h"

namespace portacl::record {
namespace {

std::int64_t forks = 0;  // between the first process and this one

// _Operator of _capture.py.
struct Operator {
  Ref function;  // keeps its address
  Ref described;
  Ref called;
  bool is_passed_over;
  bool is_collective;
  bool allocates;
  bool draws;
  Size count;
  Size overwritten;  // -1: none
  std::string begin;
  std::vector<std::pair<Size, std::string>> written;
  std::vector<std::pair<Size, std::pair<Size, std::string>>> aliases;
  bool has_aliases;
  Ref outs;  // names of arguments that have no contents before
};

class OperatorCalls {
 public:
  OperatorCalls(Ref tuple, const Known& known)
      : tuple_(std::move(tuple)), known_(known), texts_(known), origins_(known_, texts_), forks_(forks) {
    const Ref steps = names_.steps.Of(known.recorder);
    if (steps.get() != known.none) first_step_ = Whole(names_.start.Of(steps));
    const Ref module = names_.module.Of(known.recorder);
    if (module.get() != known.none) module_ = std::string(Text(module));
    has_stacks_ = names_.stacks.Of(known.recorder).get() == known.yes;
    shows_progress_ = names_.wants_progress.Of(known.recorder).get() == known.yes;
    handle_ = python.PyLong_AsVoidPtr(known.handle);
    nowhere_ = origins_.ModuleOf("", "");
  }

  // `__torch_dispatch__` of the mode.
  Object* Dispatch(Object* function, Object* types, Object* arguments, Object* named_arguments);

  // Does what _Contents asks of tensors.
  Object* Describe(Object* contents, Object* value);

 private:
  // The recorder's lock.
  class Lock {
   public:
    explicit Lock(const Known& known) : known_(known) {
      (void)Ref(python.PyObject_CallFunctionObjArgs(known.acquire, nullptr));
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
      Exception error;  // which may be on its way
      if (python.PyErr_Occurred() != nullptr) error.Fetch();
      Object* const done = python.PyObject_CallFunctionObjArgs(known_.release, nullptr);
      if (done == nullptr) {
        python.PyErr_Clear();
      } else {
        python.Py_DecRef(done);
      }
      try {
        if (error.is_there()) error.Raise();
      } catch (const Raised&) {  // it is Python's again
      }
    }

   private:
    const Known& known_;
  };

  // Tells Describe what is being described.
  class Describing {
   public:
    Describing(OperatorCalls& calls, Contents& contents) : calls_(calls), before_(calls.described_) {
      calls.described_ = &contents;
    }
    Describing(const Describing&) = delete;
    Describing& operator=(const Describing&) = delete;
    ~Describing() { calls_.described_ = before_; }

   private:
    OperatorCalls& calls_;
    Contents* const before_;
  };

  // One call.
  struct Call {
    const Operator& called;
    Object* arguments;
    Object* named_arguments;  // or nullptr
    bool in_backward;
    bool in_module;
    std::optional<Origin> origin;
    const Module* module;
    long long stack = -1;
    long long sequence = 0;
    Maybe random = {};
    std::string given = {};
    std::string named = {};
    std::string text = {};
    Contents contents = {};
  };
  struct Written {
    std::string path;
    Ref tensor;
  };

  bool IsOn(const Name& name) const { return name.Of(known_.recorder).get() == known_.yes; }
  const Operator* OperatorOf(Object* function);
  std::vector<Written> ForgetWritten(const Call& call);
  void ForgetAll(Object* value, const std::string& path, std::vector<Written>& found);
  Ref Record(Call& call);
  void DescribeGiven(Call& call);
  void DescribeFound(Call& call, Object* result, Exception& error);
  void AddOutputs(Call& call, Object* result, const std::vector<Written>& written);
  void AddWhere(Call& call);
  void HandOver(std::vector<std::int64_t>& words, const std::string& text);
  Object* Invoke(Object* called, Object* arguments, Object* named_arguments) const {
    return python.PyObject_Call(called, arguments, named_arguments);
  }

  struct Names {
    Name is_off{"_is_off"}, steps{"_steps"}, start{"start"}, module{"_module"}, stacks{"_stacks"};
    Name wants_progress{"_wants_progress"}, current_step{"current_step"}, operator_of{"_operator_of"};
    Name is_passed_over{"is_passed_over"}, is_collective{"is_collective"}, allocates{"allocates"};
    Name draws{"draws"}, count{"count"}, overwritten{"overwritten"}, begin{"begin"}, written{"written"};
    Name aliases{"aliases"}, outs{"outs"}, called{"called"}, generator{"_generator"}, uncache{"_uncache"};
    Name calls{"calls"}, error_text{"_error_text"}, find_trouble{"_find_trouble"}, end_full{"_end_full"},
        show_when_due{"_show_when_due"};
    Name home{"home"}, is_capturing{"is_capturing"}, current_device{"_current_device"};
    Name current_stream{"_current_stream"};
  };

  const Ref tuple_;  // owns what is known
  const Known known_;
  TensorTexts texts_;
  CallOrigins origins_;
  const Names names_;
  void* handle_;
  const std::int64_t forks_;
  long long first_step_ = 0;
  std::optional<std::string> module_;
  bool has_stacks_;
  bool shows_progress_;
  const Module* nowhere_ = nullptr;
  std::optional<Ref> home_;
  Contents* described_ = nullptr;  // what is being described
  std::unordered_map<Object*, std::unique_ptr<const Operator>> operators_;
  std::unordered_map<std::uintptr_t, std::size_t> threads_;
};

// Returns nullptr for what is no operator.
const Operator* OperatorCalls::OperatorOf(Object* function) {
  const auto found = operators_.find(function);
  if (found != operators_.end()) return found->second.get();
  Ref described = names_.operator_of.Call(known_.recorder, function);
  if (described.get() == known_.none) return nullptr;
  const auto is = [&](const Name& name) { return name.Of(described).get() == known_.yes; };
  const auto pairs = [](const Ref& list, auto add) {
    for (Size i = 0; i < python.PyList_Size(list.get()); ++i) {
      Object* const pair = python.PyList_GetItem(list.get(), i);
      add(Whole(python.PyTuple_GetItem(pair, 0)), std::string(Text(python.PyTuple_GetItem(pair, 1))));
    }
  };
  std::vector<std::pair<Size, std::string>> written;
  pairs(names_.written.Of(described),
        [&written](long long number, std::string name) { written.emplace_back(number, std::move(name)); });
  const Ref aliases = names_.aliases.Of(described);
  std::vector<std::pair<Size, std::pair<Size, std::string>>> found_aliases;
  Object *key = nullptr, *value = nullptr;
  for (Size at = 0; python.PyDict_Next(aliases.get(), &at, &key, &value) != 0;) {
    found_aliases.emplace_back(Whole(key),
                               std::make_pair(Whole(python.PyTuple_GetItem(value, 0)),
                                              std::string(Text(python.PyTuple_GetItem(value, 1)))));
  }
  const Ref overwritten = names_.overwritten.Of(described);
  const bool is_passed_over = is(names_.is_passed_over), is_collective = is(names_.is_collective);
  const bool allocates = is(names_.allocates), draws = is(names_.draws);
  const Size count = Whole(names_.count.Of(described));
  const Size is_overwritten = overwritten.get() == known_.none ? -1 : Whole(overwritten);
  const Ref begin = names_.begin.Of(described);
  Ref outs = names_.outs.Of(described);
  Ref called = names_.called.Of(described);
  const bool has_aliases = !found_aliases.empty();
  auto made = std::make_unique<const Operator>(
      Operator{Ref::Borrowed(function), std::move(described), std::move(called), is_passed_over,
               is_collective, allocates, draws, count, is_overwritten, std::string(Text(begin)),
               std::move(written), std::move(found_aliases), has_aliases, std::move(outs)});
  return operators_.emplace(function, std::move(made)).first->second.get();
}

void OperatorCalls::ForgetAll(Object* value, const std::string& path, std::vector<Written>& found) {
  if (texts_.IsTensor(value) || python.PyObject_IsInstance(value, known_.tensor_type) == 1) {
    texts_.Forget(value);
    found.push_back({'[' + path + ']', Ref::Borrowed(value)});
  } else if (texts_.IsList(value)) {
    const bool is_list = value->type == known_.list_type;
    const Size size = is_list ? python.PyList_Size(value) : python.PyTuple_Size(value);
    for (Size i = 0; i < size; ++i) {
      const Ref one =
          Ref::Borrowed(is_list ? python.PyList_GetItem(value, i) : python.PyTuple_GetItem(value, i));
      std::string where = path + ',';
      Append(where, i);
      ForgetAll(one.get(), where, found);
    }
  }
}

// Returns all tensors that a call wrote, which are forgotten.
std::vector<OperatorCalls::Written> OperatorCalls::ForgetWritten(const Call& call) {
  std::vector<Written> found;
  if (call.called.is_collective) (void)names_.uncache.Call(known_.recorder, call.arguments);
  const Size given = python.PyTuple_Size(call.arguments);
  for (const auto& [number, name] : call.called.written) {
    if (number < given) {
      std::string path = "\"args\",";
      Append(path, number);
      ForgetAll(python.PyTuple_GetItem(call.arguments, number), path, found);
    } else if (call.named_arguments != nullptr) {
      Object* const value = Found(call.named_arguments, TextRef(name));
      if (value != nullptr) ForgetAll(value, "\"kwargs\",\"" + name + '"', found);
    }
  }
  return found;
}

void OperatorCalls::HandOver(std::vector<std::int64_t>& words, const std::string& text) {
  void* stream = nullptr;
  bool is_later = false;
  if (!words.empty()) {
    if (!home_) home_.emplace(names_.home.Call(known_.deferred));
    const bool is_capturing = Ref(names_.is_capturing.Call(known_.deferred)).get() == known_.yes;
    if (Whole(*home_) == Whole(names_.current_device.Call(known_.deferred))) {
      is_later = true;
      if (!is_capturing) {
        stream = python.PyLong_AsVoidPtr(names_.current_stream.Call(known_.deferred, home_->get()).get());
      }
    } else if (is_capturing) {
      is_later = true;  // neither waited for nor read
    } else {
      (void)Ref(python.PyObject_CallFunctionObjArgs(known_.synchronize, home_->get(), nullptr));
    }
  }
  if (!text.empty()) names_.calls.Set(known_.deferred, Number(Whole(names_.calls.Of(known_.deferred)) + 1));
  bool is_taken = false;
  {
    const WithoutLock others;  // the device's thread may need Python before it takes more
    is_taken = HandOverCall(handle_, stream, std::move(words), text, is_later);
  }
  words.clear();
  if (is_taken) return;
  const char* const error = DeferredError(handle_);
  if (*error == '\0') throw std::bad_alloc();
  python.PyErr_SetString(known_.runtime_error, error);
  throw Raised();
}

void OperatorCalls::DescribeGiven(Call& call) {
  const Operator& called = call.called;
  if (called.draws) {
    const Ref named =
        call.named_arguments == nullptr ? Ref::Borrowed(known_.none) : Ref::Borrowed(call.named_arguments);
    Ref random = names_.generator.Call(known_.recorder, call.arguments, named.get());
    if (random.get() != known_.none) call.random.reset(random.Release());
  }
  const Size count = python.PyTuple_Size(call.arguments);
  for (Size i = 0; i < count; ++i) {
    if (i > 0) call.given += ',';
    Object* const value = python.PyTuple_GetItem(call.arguments, i);
    if (i == called.overwritten) {
      texts_.AddShape(call.contents, value, call.given);
    } else {
      texts_.Add(call.contents, value, call.given);
    }
  }
  if (call.named_arguments != nullptr && python.PyDict_Size(call.named_arguments) > 0) {
    call.named = ",\"kwargs\":{\"dict\":[";
    Object *key = nullptr, *value = nullptr;
    for (Size at = 0; python.PyDict_Next(call.named_arguments, &at, &key, &value) != 0;) {
      if (call.named.back() != '[') call.named += ',';
      ((call.named += "[\"") += Text(key)) += "\",";
      if (python.PySet_Contains(called.outs.get(), key) == 1) {
        texts_.AddShape(call.contents, value, call.named);
      } else {
        texts_.Add(call.contents, value, call.named);
      }
      call.named += ']';
    }
    call.named += "]}";
  }
}

void OperatorCalls::AddOutputs(Call& call, Object* result, const std::vector<Written>& written) {
  const Operator& called = call.called;
  std::string& text = call.text;
  Maybe one;  // a tuple, where the result is one output
  if (called.count == 1) one.reset(Ref(python.PyTuple_Pack(1, result)).Release());
  Object* const outputs = one != nullptr ? one.get() : result;
  const bool is_list = outputs->type == known_.list_type;
  const Size count = called.count == 0 ? 0
                     : is_list         ? python.PyList_Size(outputs)
                                       : python.PyTuple_Size(outputs);
  const auto output = [&](Size i) {
    return is_list ? python.PyList_GetItem(outputs, i) : python.PyTuple_GetItem(outputs, i);
  };
  text += ",\"outputs\":[";
  for (Size i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    if (called.allocates) {
      texts_.AddShape(call.contents, output(i), text);
    } else {
      texts_.Add(call.contents, output(i), text);
    }
  }
  text += ']';
  if (!written.empty()) {
    text += ",\"written\":[";
    for (const Written& there : written) {
      if (text.back() != '[') text += ',';
      ((text += '[') += there.path) += ',';
      texts_.Add(call.contents, there.tensor.get(), text);
      text += ']';
    }
    text += ']';
  }
  if (!called.has_aliases) return;
  text += ",\"aliases\":[";
  const Size given = python.PyTuple_Size(call.arguments);
  for (const auto& [number, argument] : called.aliases) {
    if (number >= count) continue;
    Object* const value = output(number);
    if (!texts_.IsTensor(value) && python.PyObject_IsInstance(value, known_.tensor_type) != 1) continue;
    if (text.back() != '[') text += ',';
    Append(text += '[', number);
    if (argument.first < given) {
      Append(text += ",[\"args\",", argument.first);
    } else {
      ((text += ",[\"kwargs\",\"") += argument.second) += '"';
    }
    text += "]]";
  }
  text += ']';
}

void OperatorCalls::AddWhere(Call& call) {
  std::string& text = call.text;
  text += call.module->text;
  if (call.origin && call.origin->index >= 0) Append(text += ",\"gradient_of\":", call.origin->index);
  if (call.random) (text += ",\"random\":") += Text(call.random.get());
  if (call.stack >= 0) Append(text += ",\"stack\":", call.stack);
  const auto thread = static_cast<std::uintptr_t>(pthread_self());
  const std::size_t number = threads_.emplace(thread, threads_.size()).first->second;
  if (number > 0) Append(text += ",\"thread\":", static_cast<long long>(number));
  text += '}';
}

// Describes what a call gave, and writes the call.
void OperatorCalls::DescribeFound(Call& call, Object* result, Exception& error) {
  const Operator& called = call.called;
  call.contents.words.clear();
  call.contents.arguments = call.arguments;
  call.contents.named_arguments = call.named_arguments == nullptr ? known_.none : call.named_arguments;
  if (call.contents.python) texts_.BeginAgain(call.contents);
  std::vector<Written> written;
  if (!called.written.empty() || called.is_collective) written = ForgetWritten(call);
  const char* phase = "none";
  if (call.in_backward) {
    phase = "backward";
  } else if (call.in_module ||
             (call.contents.needs_grad &&
              Ref(python.PyObject_CallFunctionObjArgs(known_.is_grad_enabled, nullptr)).get() ==
                  known_.yes)) {
    phase = "forward";
  }
  const long long index = Whole(names_.calls.Of(known_.deferred));
  std::string& text = call.text;
  text.reserve(call.given.size() + call.named.size() + 1024);
  Append(text += "{\"index\":", index);
  (text += called.begin) += call.given;
  Append(text += "],\"step\":", Whole(names_.current_step.Of(known_.recorder)));
  (((text += ",\"phase\":\"") += phase) += '"') += call.named;
  if (error.is_there()) {
    text += ",\"outputs\":[],\"error\":";
    text += Text(names_.error_text.Call(known_.recorder, error.value()));
  } else {
    AddOutputs(call, result, written);
  }
  AddWhere(call);
  if (!call.in_backward) origins_.Remember(call.sequence, {index, call.module, call.stack});
  try {
    HandOver(call.contents.words, text);
  } catch (const Raised&) {  // torch_npu's queue has failed
    if (python.PyErr_ExceptionMatches(known_.runtime_error) == 0) throw;
    if (error.is_there()) {
      python.PyErr_Clear();
    } else {
      error.Fetch();
    }
  }
  const bool is_in_trouble = IsInTrouble(handle_);
  if (is_in_trouble) (void)names_.find_trouble.Call(known_.recorder);
  texts_.See(call.contents);
  if (is_in_trouble) (void)names_.end_full.Call(known_.recorder);
  if (shows_progress_) (void)names_.show_when_due.Call(known_.recorder);
}

Ref OperatorCalls::Record(Call& call) {
  {
    const Lock lock(known_);
    const Describing describing(*this, call.contents);
    DescribeGiven(call);
    if (!call.in_backward)
      call.sequence = Whole(Ref(python.PyObject_CallFunctionObjArgs(known_.next_sequence, nullptr)));
    if (!call.contents.words.empty()) HandOver(call.contents.words, {});
  }
  Exception error;
  Maybe result(Invoke(call.called.called.get(), call.arguments, call.named_arguments));
  if (result == nullptr) {
    if (python.PyErr_ExceptionMatches(known_.exception) == 0) throw Raised();
    error.Fetch();
  }
  {
    const Lock lock(known_);
    const Describing describing(*this, call.contents);
    if (!IsOn(names_.is_off)) DescribeFound(call, result.get(), error);
  }
  if (error.is_there()) error.Raise();
  return Ref(result.release());
}

Object* OperatorCalls::Dispatch(Object* function, Object* types, Object* arguments, Object* named_arguments) {
  const bool is_list = types->type == known_.list_type;
  const Size count = is_list ? python.PyList_Size(types) : python.PyTuple_Size(types);
  for (Size i = 0; i < count; ++i) {
    const Object* const one = is_list ? python.PyList_GetItem(types, i) : python.PyTuple_GetItem(types, i);
    // A tensor that is made of others: those come here when it has taken itself apart.
    if (one != known_.tensor_type && one != known_.parameter_type) {
      return Ref::Borrowed(known_.not_implemented).Release();
    }
  }
  if (named_arguments == known_.none) named_arguments = nullptr;
  if (forks != forks_ || IsOn(names_.is_off) ||
      (first_step_ > 0 && Whole(names_.current_step.Of(known_.recorder)) < first_step_)) {
    return Invoke(function, arguments, named_arguments);
  }
  const Operator* const called = OperatorOf(function);
  if (called == nullptr || called->is_passed_over) return Invoke(function, arguments, named_arguments);

  Call call{*called, arguments, named_arguments, false, false, std::nullopt, nowhere_};
  call.in_backward = Whole(Ref(python.PyObject_CallFunctionObjArgs(known_.graph_task, nullptr))) != -1;
  if (call.in_backward) {
    call.origin = origins_.Gradient();
    if (call.origin) call.module = call.origin->module;
  }
  const Ref current(python.PyObject_CallFunctionObjArgs(known_.current_module, nullptr));
  call.in_module = current.get() != known_.none;
  if (call.in_module && !call.origin) {
    call.module =
        origins_.ModuleOf(python.PyTuple_GetItem(current.get(), 1), python.PyTuple_GetItem(current.get(), 0));
  }
  if (module_ && call.module->path != *module_ && !call.module->path.starts_with(*module_ + '.')) {
    if (!call.in_backward) {
      const long long sequence =
          Whole(Ref(python.PyObject_CallFunctionObjArgs(known_.next_sequence, nullptr)));
      origins_.Remember(sequence, {-1, call.module, -1});
    }
    Ref result(Invoke(called->called.get(), arguments, named_arguments));
    if (!called->written.empty()) {
      const Lock lock(known_);
      (void)ForgetWritten(call);
    }
    return result.Release();
  }
  if (call.origin && call.origin->stack >= 0) {
    call.stack = call.origin->stack;
  } else if (has_stacks_) {
    call.stack = origins_.StackHere();
  }
  return Record(call).Release();
}

Object* OperatorCalls::Describe(Object* contents, Object* value) {
  if (described_ == nullptr) return Ref::Borrowed(known_.none).Release();
  (void)contents;
  texts_.Merge(*described_);
  std::string text;
  if (texts_.IsList(value)) {
    texts_.AddAll(*described_, value, text);
  } else if (!texts_.AddTensor(*described_, value, text)) {
    return Ref::Borrowed(known_.none).Release();
  }
  return TextRef(text).Release();
}

// Calls a function of a capsule's content for Python.
template <typename Do>
Object* ForPython(Object* self, Do&& run) {
  auto* const calls = static_cast<OperatorCalls*>(python.PyCapsule_GetPointer(self, nullptr));
  if (calls == nullptr) return nullptr;
  try {
    return run(*calls);
  } catch (const Raised&) {
    return nullptr;
  } catch (...) {
    return python.PyErr_NoMemory();
  }
}

Object* DispatchFor(Object* self, Object* const* given, Size count) {
  return ForPython(self, [given, count](OperatorCalls& calls) {
    return calls.Dispatch(given[1], given[2], given[3], count > 4 ? given[4] : nullptr);
  });
}

Object* DescribeFor(Object* self, Object* const* given, Size) {
  return ForPython(self, [given](OperatorCalls& calls) { return calls.Describe(given[0], given[1]); });
}

void End(Object* capsule) {
  delete static_cast<OperatorCalls*>(python.PyCapsule_GetPointer(capsule, nullptr));
}

Method dispatch_method{"__torch_dispatch__", DispatchFor, kFastCall, nullptr};
Method describe_method{"describe", DescribeFor, kFastCall, nullptr};

}  // namespace
}  // namespace portacl::record

// Returns a tuple of what _Compiled of _deferring.py has, for a tuple of what is known, or None where this Python lacks
// what it calls. It owns the tuple. Called with Python's lock.
extern "C" __attribute__((visibility("default"))) void* PortaclRecordOperators(void* tuple) {
  using namespace portacl::record;
  static const bool is_there = FindPython() && pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0;
  if (!is_there) return nullptr;
  try {
    auto* const given = static_cast<Object*>(tuple);
    if (python.PyTuple_Size(given) != kKnown) return nullptr;
    Known known{};
    Object** const fields = reinterpret_cast<Object**>(&known);
    for (Size i = 0; i < kKnown; ++i) fields[i] = python.PyTuple_GetItem(given, i);
    auto calls = std::make_unique<OperatorCalls>(Ref::Borrowed(given), known);
    const Ref capsule(python.PyCapsule_New(calls.get(), nullptr, End));
    (void)calls.release();
    const Ref dispatch(python.PyCFunction_NewEx(&dispatch_method, capsule.get(), nullptr));
    const Ref describe(python.PyCFunction_NewEx(&describe_method, capsule.get(), nullptr));
    return python.PyTuple_Pack(2, dispatch.get(), describe.get());
  } catch (const Raised&) {
    python.PyErr_Clear();
    return nullptr;
  } catch (...) {
    return nullptr;
  }
}
