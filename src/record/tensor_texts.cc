// Describes arguments and results to a recording: _Contents.joined of python/portacl/recording/_capture.py for
// tensors that the device's thread summarises (deferred_calls.cc). What it does not know it leaves to that class.
// Python's functions are found in the process, of whatever version it is.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace portacl::record {
namespace {

// Declarations of the stable interface of Python 3.10 and later.
struct Object;
using Size = std::ptrdiff_t;
using Function = Object* (*)(Object* self, Object* const* arguments, Size count);
struct Method {
  const char* name;
  Function function;
  int flags;
  const char* text;
};
constexpr int kFastCall = 0x80;
constexpr int kEqual = 2;

struct Python {
  void (*Py_IncRef)(Object*);
  void (*Py_DecRef)(Object*);
  void (*PyErr_Clear)();
  Object* (*PyErr_Occurred)();
  Object* (*PyErr_NoMemory)();
  Object* (*PyObject_GetAttr)(Object*, Object*);
  int (*PyObject_SetAttr)(Object*, Object*, Object*);
  Object* (*PyObject_CallMethodObjArgs)(Object*, Object*, ...);
  Object* (*PyObject_CallFunctionObjArgs)(Object*, ...);
  int (*PyObject_RichCompareBool)(Object*, Object*, int);
  Object* (*PyObject_Str)(Object*);
  Object* (*PyObject_Type)(Object*);
  Object* (*PyDict_GetItemWithError)(Object*, Object*);
  Size (*PySet_Size)(Object*);
  Size (*PyList_Size)(Object*);
  Object* (*PyList_GetItem)(Object*, Size);
  int (*PyList_Append)(Object*, Object*);
  Object* (*PyTuple_Pack)(Size, ...);
  Size (*PyTuple_Size)(Object*);
  Object* (*PyTuple_GetItem)(Object*, Size);
  Object* (*PyLong_FromVoidPtr)(void*);
  Object* (*PyLong_FromLongLong)(long long);
  long long (*PyLong_AsLongLong)(Object*);
  Object* (*PyUnicode_InternFromString)(const char*);
  Object* (*PyUnicode_FromStringAndSize)(const char*, Size);
  const char* (*PyUnicode_AsUTF8AndSize)(Object*, Size*);
  Object* (*PyCapsule_New)(void*, const char*, void (*)(Object*));
  void* (*PyCapsule_GetPointer)(Object*, const char*);
  Object* (*PyCFunction_NewEx)(Method*, Object*, Object*);
};
Python python;

bool FindPython() {
  bool is_there = true;
  const auto find = [&is_there](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
    is_there = is_there && function != nullptr;
  };
#define PORTACL_FIND(name) find(python.name, #name)
  PORTACL_FIND(Py_IncRef);
  PORTACL_FIND(Py_DecRef);
  PORTACL_FIND(PyErr_Clear);
  PORTACL_FIND(PyErr_Occurred);
  PORTACL_FIND(PyErr_NoMemory);
  PORTACL_FIND(PyObject_GetAttr);
  PORTACL_FIND(PyObject_SetAttr);
  PORTACL_FIND(PyObject_CallMethodObjArgs);
  PORTACL_FIND(PyObject_CallFunctionObjArgs);
  PORTACL_FIND(PyObject_RichCompareBool);
  PORTACL_FIND(PyObject_Str);
  PORTACL_FIND(PyObject_Type);
  PORTACL_FIND(PyDict_GetItemWithError);
  PORTACL_FIND(PySet_Size);
  PORTACL_FIND(PyList_Size);
  PORTACL_FIND(PyList_GetItem);
  PORTACL_FIND(PyList_Append);
  PORTACL_FIND(PyTuple_Pack);
  PORTACL_FIND(PyTuple_Size);
  PORTACL_FIND(PyTuple_GetItem);
  PORTACL_FIND(PyLong_FromVoidPtr);
  PORTACL_FIND(PyLong_FromLongLong);
  PORTACL_FIND(PyLong_AsLongLong);
  PORTACL_FIND(PyUnicode_InternFromString);
  PORTACL_FIND(PyUnicode_FromStringAndSize);
  PORTACL_FIND(PyUnicode_AsUTF8AndSize);
  PORTACL_FIND(PyCapsule_New);
  PORTACL_FIND(PyCapsule_GetPointer);
  PORTACL_FIND(PyCFunction_NewEx);
#undef PORTACL_FIND
  return is_there;
}

// Python has raised an exception.
struct Raised {};

// Owns a reference, which is never null.
class Ref {
 public:
  explicit Ref(Object* owned) : object_(owned) {
    if (owned == nullptr) throw Raised();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) python.Py_DecRef(object_);
  }
  static Ref Borrowed(Object* object) {
    python.Py_IncRef(object);
    return Ref(object);
  }
  Object* get() const { return object_; }
  Object* Release() { return std::exchange(object_, nullptr); }

 private:
  Object* object_;
};

long long Whole(const Ref& number) {
  const long long value = python.PyLong_AsLongLong(number.get());
  if (value == -1 && python.PyErr_Occurred() != nullptr) throw Raised();
  return value;
}

Ref Number(long long value) { return Ref(python.PyLong_FromLongLong(value)); }

std::string_view Text(const Ref& text) {
  Size size = 0;
  const char* const bytes = python.PyUnicode_AsUTF8AndSize(text.get(), &size);
  if (bytes == nullptr) throw Raised();
  return {bytes, static_cast<std::size_t>(size)};
}

Ref TextRef(std::string_view text) {
  return Ref(python.PyUnicode_FromStringAndSize(text.data(), static_cast<Size>(text.size())));
}

void Check(int status) {
  if (status < 0) throw Raised();
}

// A name of an attribute, which lives as long as the process.
struct Name {
  explicit Name(const char* text) : object(python.PyUnicode_InternFromString(text)) {
    if (object == nullptr) throw Raised();
  }
  Ref Of(Object* of) const { return Ref(python.PyObject_GetAttr(of, object)); }
  Ref Of(const Ref& of) const { return Of(of.get()); }
  Ref Call(Object* of) const { return Ref(python.PyObject_CallMethodObjArgs(of, object, nullptr)); }
  void Set(Object* of, const Ref& value) const { Check(python.PyObject_SetAttr(of, object, value.get())); }
  Object* object;
};

struct Names {
  Name requires_grad{"requires_grad"}, layout{"layout"}, dtype{"dtype"}, shape{"shape"}, stride{"stride"};
  Name device{"device"}, data_ptr{"data_ptr"}, is_neg{"is_neg"}, untyped_storage{"untyped_storage"};
  Name cdata{"_cdata"}, storage_offset{"storage_offset"}, nbytes{"nbytes"};
  Name needs_grad{"needs_grad"}, work{"work"}, new_ones{"new"};
  Name writes{"writes"}, storage{"storage"}, address{"address"}, form{"form"}, number{"number"}, text{"text"};
  Name request{"request"}, extent{"extent"}, item_size{"item_size"}, order{"order"}, order_text{"order_text"};
  Name count{"count"}, start{"start"}, view{"view"}, views{"views"}, place{"place"}, summary{"summary"},
      content{"content"};
  Name tensor_count{"_tensor_count"}, summaries{"summaries"}, json{"json"};
};

// Python hands over a tuple of these, in this order.
struct Known {
  Object *recorder, *deferred, *forms, *seen, *storages, *parameters, *uncached;
  Object *strided, *tensor_type, *parameter_type, *seen_type, *is_gone, *known, *quote, *none, *yes, *no;
  Object *remembered, *named, *int_type, *list_type, *tuple_type;
};
constexpr Size kKnown = sizeof(Known) / sizeof(void*);

struct Describer {
  Ref tuple;  // owns what is known
  Known known;
  Names names;
  long long remembered;
  long long named;
};

// Returns a borrowed value, or nullptr.
Object* Found(Object* dictionary, const Ref& key) {
  Object* const value = python.PyDict_GetItemWithError(dictionary, key.get());
  if (value == nullptr && python.PyErr_Occurred() != nullptr) throw Raised();
  return value;
}

// One tensor that is described.
struct Subject {
  Object* tensor;
  Ref type;
  Ref needs_grad;
  Ref dtype;
  Ref form;
  Ref address;
  Ref key;           // its id
  long long number;  // that it gets if it is described anew

  bool IsNeeded(const Known& known) const { return needs_grad.get() == known.yes; }
};

// Returns the text of the same tensor object if its memory was not written since, or nullptr.
Object* SeenText(const Describer& with, const Subject& subject) {
  const Names& names = with.names;
  Object* const found = Found(with.known.seen, subject.key);
  if (found == nullptr) return nullptr;
  const Ref seen = Ref::Borrowed(found);
  const Ref object(python.PyObject_CallFunctionObjArgs(seen.get(), nullptr));
  const bool is_same =
      object.get() == subject.tensor && names.form.Of(seen).get() == subject.form.get() &&
      names.needs_grad.Of(seen).get() == subject.needs_grad.get() &&
      Whole(names.writes.Of(seen)) == Whole(names.writes.Of(names.storage.Of(seen))) &&
      python.PyObject_RichCompareBool(names.address.Of(seen).get(), subject.address.get(), kEqual) == 1 &&
      subject.number - Whole(names.number.Of(seen)) < with.remembered;
  return is_same ? names.text.Of(seen).Release() : nullptr;
}

// Returns the Python object that holds what the recording knows about the memory. Creates it for new memory.
Ref MemoryOf(const Describer& with, const Ref& storage) {
  const Known& known = with.known;
  const Ref place = with.names.cdata.Of(storage);
  if (Object* const found = Found(known.storages, place)) {
    Ref memory = Ref::Borrowed(found);
    const Ref gone(python.PyObject_CallFunctionObjArgs(known.is_gone, place.get(), nullptr));
    if (gone.get() == known.no) return memory;
  }
  return Ref(python.PyObject_CallFunctionObjArgs(known.known, storage.get(), place.get(), nullptr));
}

// Returns the path of a parameter, or None.
Ref NameOf(const Describer& with, const Subject& subject) {
  if (Object* const found = Found(with.known.parameters, subject.key)) {
    const Ref named = Ref::Borrowed(found);
    const Ref object(python.PyObject_CallFunctionObjArgs(python.PyTuple_GetItem(found, 0), nullptr));
    if (object.get() == subject.tensor) return Ref::Borrowed(python.PyTuple_GetItem(found, 1));
  }
  return Ref::Borrowed(with.known.none);
}

// Returns the text of an earlier description of the same view of this memory, or nullptr.
Object* EarlierText(const Describer& with, const Subject& subject, const Ref& memory, const Ref& view) {
  const Ref views = with.names.views.Of(memory);
  if (views.get() == with.known.none) return nullptr;
  Object* const found = Found(views.get(), view);
  if (found == nullptr) return nullptr;
  const Ref earlier = Ref::Borrowed(found);
  return subject.number - Whole(earlier) < with.remembered ? python.PyObject_Str(earlier.get()) : nullptr;
}

// Requests a summary of the elements, unless an earlier one of the same unchanged memory exists.
void Request(const Describer& with, Object* contents, const Subject& subject, const Ref& memory,
             const Ref& request) {
  const Names& names = with.names;
  const Known& known = with.known;
  const Ref& form = subject.form;
  const Ref elements = names.count.Of(form);
  const bool is_in_order = names.order.Of(form).get() != known.none;
  const Ref place(is_in_order
                      ? python.PyTuple_Pack(3, subject.dtype.get(), subject.address.get(), elements.get())
                      : python.PyTuple_Pack(6, subject.dtype.get(), subject.address.get(), elements.get(),
                                            form.get(), known.no, known.no));
  const int is_same = python.PyObject_RichCompareBool(names.place.Of(memory).get(), place.get(), kEqual);
  Check(is_same);
  const long long summary = Whole(names.summary.Of(memory));
  const long long summaries = Whole(names.summaries.Of(known.deferred));
  if (is_same != 0 && (summary < 0 || summaries - summary <= with.named)) return;
  names.summaries.Set(known.deferred, Number(summaries + 1));
  const Ref work = names.work.Of(contents);
  const Ref number = Number(summaries);
  Check(python.PyList_Append(work.get(), number.get()));
  Check(python.PyList_Append(work.get(), subject.address.get()));
  for (Size i = 0; i < python.PyTuple_Size(request.get()); ++i) {
    Check(python.PyList_Append(work.get(), python.PyTuple_GetItem(request.get(), i)));
  }
  names.summary.Set(memory.get(), number);
  names.place.Set(memory.get(), place);
  names.content.Set(memory.get(), TextRef('\1' + std::to_string(summaries) + "\2\""));
}

std::string TextOf(const Describer& with, const Subject& subject, const Ref& memory, const Ref& name,
                   long long offset) {
  const Names& names = with.names;
  std::string text = "{\"id\":" + std::to_string(subject.number) + ',';
  const Ref start = names.start.Of(subject.form);
  text += Text(start).substr(1);
  if (offset != 0) text += ",\"offset\":" + std::to_string(offset);
  text += ",\"storage\":" + std::to_string(Whole(names.number.Of(memory)));
  if (subject.type.get() == with.known.parameter_type) text += ",\"type\":\"Parameter\"";
  if (subject.IsNeeded(with.known)) text += ",\"requires_grad\":true";
  if (name.get() != with.known.none) {
    const Ref quoted(python.PyObject_CallFunctionObjArgs(with.known.quote, name.get(), nullptr));
    (text += ",\"name\":") += Text(quoted);
  }
  text += ",\"kept\":";
  const Ref content = names.content.Of(memory);
  const Ref order = names.order_text.Of(subject.form);
  std::string_view kept = Text(content);
  if (!Text(order).empty()) kept.remove_suffix(1);
  ((text += kept) += Text(order)) += '}';
  return text;
}

// Keeps the number, for calls that get the same tensor.
void Keep(const Describer& with, Object* contents, const Subject& subject, const Ref& memory,
          const Ref& view) {
  const Names& names = with.names;
  const Ref number = Number(subject.number);
  const Ref seen(python.PyObject_CallFunctionObjArgs(with.known.seen_type, subject.tensor, nullptr));
  names.writes.Set(seen.get(), names.writes.Of(memory));
  names.storage.Set(seen.get(), memory);
  names.address.Set(seen.get(), subject.address);
  names.form.Set(seen.get(), subject.form);
  names.needs_grad.Set(seen.get(), subject.needs_grad);
  names.number.Set(seen.get(), number);
  names.text.Set(seen.get(), Ref(python.PyObject_Str(number.get())));
  names.view.Set(seen.get(), view);
  Check(python.PyList_Append(names.new_ones.Of(contents).get(), seen.get()));
  names.tensor_count.Set(with.known.recorder, Number(subject.number + 1));
}

// Returns the text of a tensor whose form is known, or None where Python has to describe it.
Object* DescribeSubject(const Describer& with, Object* contents, const Subject& subject) {
  const Names& names = with.names;
  const Known& known = with.known;
  const auto none = [&known] { return Ref::Borrowed(known.none).Release(); };
  if (Object* const text = SeenText(with, subject)) return text;
  const Ref request = names.request.Of(subject.form);
  if (request.get() == known.none || python.PySet_Size(known.uncached) != 0) return none();
  if (names.is_neg.Call(subject.tensor).get() == known.yes) return none();
  const Ref storage = names.untyped_storage.Call(subject.tensor);
  const Ref memory = MemoryOf(with, storage);
  const Ref name = NameOf(with, subject);
  Ref view = Ref::Borrowed(known.none);
  if (name.get() == known.none) {
    view = Ref(python.PyTuple_Pack(5, subject.address.get(), subject.form.get(), subject.needs_grad.get(),
                                   subject.type.get(), known.no));
    if (Object* const text = EarlierText(with, subject, memory, view)) return text;
  }
  const long long offset = Whole(names.storage_offset.Call(subject.tensor));
  const long long end =
      (offset + Whole(names.extent.Of(subject.form))) * Whole(names.item_size.Of(subject.form));
  if (end > Whole(names.nbytes.Call(storage.get()))) return none();
  Request(with, contents, subject, memory, request);
  const std::string text = TextOf(with, subject, memory, name, offset);
  Keep(with, contents, subject, memory, view);
  return TextRef(text).Release();
}

// Returns the text of a tensor, or None where Python has to describe it.
Object* Describe(const Describer& with, Object* contents, Object* tensor) {
  const Names& names = with.names;
  const Known& known = with.known;
  const auto none = [&known] { return Ref::Borrowed(known.none).Release(); };
  Ref type(python.PyObject_Type(tensor));
  if (type.get() != known.tensor_type && type.get() != known.parameter_type) return none();
  if (names.layout.Of(tensor).get() != known.strided) return none();
  Ref dtype = names.dtype.Of(tensor);
  const Ref shape = names.shape.Of(tensor);
  const Ref strides = names.stride.Call(tensor);
  const Ref device = names.device.Of(tensor);
  const Ref kind(python.PyTuple_Pack(4, dtype.get(), shape.get(), strides.get(), device.get()));
  Object* const form = Found(known.forms, kind);
  if (form == nullptr) return none();
  const Subject subject{tensor,
                        std::move(type),
                        names.requires_grad.Of(tensor),
                        std::move(dtype),
                        Ref::Borrowed(form),
                        names.data_ptr.Call(tensor),
                        Ref(python.PyLong_FromVoidPtr(tensor)),
                        Whole(names.tensor_count.Of(known.recorder))};
  if (subject.IsNeeded(known)) names.needs_grad.Set(contents, subject.needs_grad);
  return DescribeSubject(with, contents, subject);
}

void AddAll(const Describer& with, Object* contents, Object* values, std::string& text);

// Appends the JSON of a value.
void Add(const Describer& with, Object* contents, Object* value, std::string& text) {
  const Known& known = with.known;
  const Ref type(python.PyObject_Type(value));
  if (type.get() == known.tensor_type || type.get() == known.parameter_type) {
    const Ref described(Describe(with, contents, value));
    if (described.get() != known.none) {
      ((text += "{\"tensor\":") += Text(described)) += '}';
      return;
    }
  } else if (value == known.none) {
    text += "null";
    return;
  } else if (value == known.yes || value == known.no) {
    text += value == known.yes ? "true" : "false";
    return;
  } else if (type.get() == known.int_type) {
    text += Text(Ref(python.PyObject_Str(value)));
    return;
  } else if (type.get() == known.list_type || type.get() == known.tuple_type) {
    text += '[';
    AddAll(with, contents, value, text);
    text += ']';
    return;
  }
  text += Text(Ref(python.PyObject_CallMethodObjArgs(contents, with.names.json.object, value, nullptr)));
}

// Appends the JSON of the items of a list or tuple, with commas.
void AddAll(const Describer& with, Object* contents, Object* values, std::string& text) {
  const Ref type(python.PyObject_Type(values));
  const bool is_list = type.get() == with.known.list_type;
  for (Size i = 0; i < (is_list ? python.PyList_Size(values) : python.PyTuple_Size(values)); ++i) {
    const Ref value =
        Ref::Borrowed(is_list ? python.PyList_GetItem(values, i) : python.PyTuple_GetItem(values, i));
    if (i > 0) text += ',';
    Add(with, contents, value.get(), text);
  }
}

Object* DescribeFor(Object* self, Object* const* arguments, Size count) {
  const auto* const with = static_cast<const Describer*>(python.PyCapsule_GetPointer(self, nullptr));
  if (with == nullptr) return nullptr;
  if (count != 2) return Ref::Borrowed(with->known.none).Release();
  try {
    const Ref type(python.PyObject_Type(arguments[1]));
    if (type.get() != with->known.list_type && type.get() != with->known.tuple_type) {
      return Describe(*with, arguments[0], arguments[1]);
    }
    std::string text;
    AddAll(*with, arguments[0], arguments[1], text);
    return TextRef(text).Release();
  } catch (const Raised&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return python.PyErr_NoMemory();
  }
}

void Forget(Object* capsule) {
  auto* const with = static_cast<Describer*>(python.PyCapsule_GetPointer(capsule, nullptr));
  delete with;
}

Method describe_method{"describe", DescribeFor, kFastCall, nullptr};

}  // namespace
}  // namespace portacl::record

// Returns a Python function (contents, tensor or list or tuple) that describes its second argument. `tuple` has the fields of
// Known; the function owns it. Returns None if this Python lacks a function that it needs. Called with Python's lock.
extern "C" __attribute__((visibility("default"))) void* PortaclMakeDescriber(void* tuple) {
  using namespace portacl::record;
  static const bool is_there = FindPython();
  if (!is_there) return nullptr;
  try {
    auto* const given = static_cast<Object*>(tuple);
    if (python.PyTuple_Size(given) != kKnown) return nullptr;
    Known known{};
    Object** const fields = reinterpret_cast<Object**>(&known);
    for (Size i = 0; i < kKnown; ++i) fields[i] = python.PyTuple_GetItem(given, i);
    auto with = std::make_unique<Describer>(Describer{Ref::Borrowed(given), known, Names(), 0, 0});
    with->remembered = Whole(Ref::Borrowed(known.remembered));
    with->named = Whole(Ref::Borrowed(known.named));
    const Ref capsule(python.PyCapsule_New(with.get(), nullptr, Forget));
    (void)with.release();
    return python.PyCFunction_NewEx(&describe_method, capsule.get(), nullptr);
  } catch (const Raised&) {
    python.PyErr_Clear();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
