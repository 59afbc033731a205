// Python's objects, for code that Python calls. Its functions are found in the process, of whatever version it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace portacl::record {

// Declarations of the stable interface of Python 3.10 and later. What an object begins with is that of builds with
// one lock for all threads: Python says its size (object.__basicsize__), which FindPython compares.
struct Object {
  std::ptrdiff_t references;
  Object* type;
};
using Size = std::ptrdiff_t;
using Function = Object* (*)(Object* self, Object* const* arguments, Size count);
struct Method {
  const char* name;
  Function function;
  int flags;
  const char* text;
};
struct Member {
  const char* name;
  int type;
  Size offset;
  int flags;
  const char* text;
};
struct TypeSlot {
  int slot;
  void* content;
};
struct TypeSpec {
  const char* name;
  int size;
  int item_size;
  unsigned int flags;
  TypeSlot* slots;
};
inline constexpr int kFastCall = 0x80;
inline constexpr int kMemberObject = 6;  // None where it is nullptr
inline constexpr int kMemberWhole = 17;
inline constexpr int kSlotCall = 50;
inline constexpr int kSlotEnd = 52;
inline constexpr int kSlotNew = 65;
inline constexpr int kSlotMembers = 72;

struct Python {
  void (*Py_IncRef)(Object*);
  void (*Py_DecRef)(Object*);
  void (*PyErr_Clear)();
  Object* (*PyErr_Occurred)();
  Object* (*PyErr_NoMemory)();
  int (*PyErr_ExceptionMatches)(Object*);
  void (*PyErr_Fetch)(Object**, Object**, Object**);
  void (*PyErr_NormalizeException)(Object**, Object**, Object**);
  void (*PyErr_Restore)(Object*, Object*, Object*);
  void (*PyErr_SetString)(Object*, const char*);
  Object* (*PyObject_GetAttr)(Object*, Object*);
  int (*PyObject_SetAttr)(Object*, Object*, Object*);
  int (*PyObject_HasAttrString)(Object*, const char*);
  Object* (*PyObject_Call)(Object*, Object*, Object*);
  Object* (*PyObject_CallMethodObjArgs)(Object*, Object*, ...);
  Object* (*PyObject_CallFunctionObjArgs)(Object*, ...);
  int (*PyObject_IsInstance)(Object*, Object*);
  Object* (*PyObject_Repr)(Object*);
  Object* (*PyObject_Str)(Object*);
  void (*PyObject_Free)(void*);
  Object* (*PyDict_GetItemWithError)(Object*, Object*);
  int (*PyDict_SetItem)(Object*, Object*, Object*);
  int (*PyDict_Next)(Object*, Size*, Object**, Object**);
  Size (*PyDict_Size)(Object*);
  int (*PySet_Contains)(Object*, Object*);
  Size (*PySet_Size)(Object*);
  Size (*PyList_Size)(Object*);
  Object* (*PyList_GetItem)(Object*, Size);
  Object* (*PyList_New)(Size);
  int (*PyList_Append)(Object*, Object*);
  Size (*PyTuple_Size)(Object*);
  Object* (*PyTuple_GetItem)(Object*, Size);
  Object* (*PyTuple_Pack)(Size, ...);
  Object* (*PyLong_FromVoidPtr)(void*);
  void* (*PyLong_AsVoidPtr)(Object*);
  Object* (*PyLong_FromLongLong)(long long);
  long long (*PyLong_AsLongLong)(Object*);
  unsigned long long (*PyLong_AsUnsignedLongLong)(Object*);
  long long (*PyLong_AsLongLongAndOverflow)(Object*, int*);
  double (*PyFloat_AsDouble)(Object*);
  Object* (*PyUnicode_InternFromString)(const char*);
  Object* (*PyUnicode_FromStringAndSize)(const char*, Size);
  const char* (*PyUnicode_AsUTF8AndSize)(Object*, Size*);
  Object* (*PyCapsule_New)(void*, const char*, void (*)(Object*));
  void* (*PyCapsule_GetPointer)(Object*, const char*);
  Object* (*PyCFunction_NewEx)(Method*, Object*, Object*);
  Object* (*PyType_FromSpec)(TypeSpec*);
  Object* (*PyType_GenericAlloc)(Object*, Size);
  Object* (*PyWeakref_NewRef)(Object*, Object*);
  Object* (*PyWeakref_GetObject)(Object*);
  Object* (*PyEval_GetFrame)();
  Object* (*PyFrame_GetBack)(Object*);
  Object* (*PyFrame_GetCode)(Object*);
  void* (*PyEval_SaveThread)();
  void (*PyEval_RestoreThread)(void*);
};
extern Python python;

// Returns false where this Python lacks something of it.
bool FindPython();

// Python has raised an exception.
struct Raised {};

// Owns a reference, which is never null unless it was moved from.
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
    if (object == nullptr) throw Raised();
    python.Py_IncRef(object);
    return Ref(object);
  }
  Object* get() const { return object_; }
  Object* Release() { return std::exchange(object_, nullptr); }

 private:
  Object* object_;
};

struct PointerFree {
  void operator()(Object* object) const { python.Py_DecRef(object); }
};
using Maybe = std::unique_ptr<Object, PointerFree>;  // an object, or nullptr

// An exception that was raised and is raised again later.
class Exception {
 public:
  Exception() = default;
  Exception(const Exception&) = delete;
  Exception& operator=(const Exception&) = delete;
  ~Exception() {
    for (Object* const one : {kind_, value_, trace_}) {
      if (one != nullptr) python.Py_DecRef(one);
    }
  }
  void Fetch() {
    python.PyErr_Fetch(&kind_, &value_, &trace_);
    python.PyErr_NormalizeException(&kind_, &value_, &trace_);
  }
  bool is_there() const { return kind_ != nullptr; }
  Object* value() const { return value_; }
  [[noreturn]] void Raise() {
    python.PyErr_Restore(std::exchange(kind_, nullptr), std::exchange(value_, nullptr),
                         std::exchange(trace_, nullptr));
    throw Raised();
  }

 private:
  Object* kind_ = nullptr;
  Object* value_ = nullptr;
  Object* trace_ = nullptr;
};

inline void Check(int status) {
  if (status < 0) throw Raised();
}

inline long long Whole(Object* number) {
  const long long value = python.PyLong_AsLongLong(number);
  if (value == -1 && python.PyErr_Occurred() != nullptr) throw Raised();
  return value;
}
inline long long Whole(const Ref& number) { return Whole(number.get()); }
inline Ref Number(long long value) { return Ref(python.PyLong_FromLongLong(value)); }

inline std::string_view Text(Object* text) {
  Size size = 0;
  const char* const bytes = python.PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) throw Raised();
  return {bytes, static_cast<std::size_t>(size)};
}
inline std::string_view Text(const Ref& text) { return Text(text.get()); }
inline Ref TextRef(std::string_view text) {
  return Ref(python.PyUnicode_FromStringAndSize(text.data(), static_cast<Size>(text.size())));
}

inline void Append(std::string& text, long long number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Returns a borrowed value, or nullptr.
inline Object* Found(Object* dictionary, const Ref& key) {
  Object* const value = python.PyDict_GetItemWithError(dictionary, key.get());
  if (value == nullptr && python.PyErr_Occurred() != nullptr) throw Raised();
  return value;
}

// A name of an attribute, which lives as long as the process.
struct Name {
  explicit Name(const char* text) : object(python.PyUnicode_InternFromString(text)) {
    if (object == nullptr) throw Raised();
  }
  Ref Of(Object* of) const { return Ref(python.PyObject_GetAttr(of, object)); }
  Ref Of(const Ref& of) const { return Of(of.get()); }
  Ref Call(Object* of) const { return Ref(python.PyObject_CallMethodObjArgs(of, object, nullptr)); }
  Ref Call(Object* of, Object* with) const {
    return Ref(python.PyObject_CallMethodObjArgs(of, object, with, nullptr));
  }
  Ref Call(Object* of, Object* with, Object* and_with) const {
    return Ref(python.PyObject_CallMethodObjArgs(of, object, with, and_with, nullptr));
  }
  void Set(Object* of, const Ref& value) const { Check(python.PyObject_SetAttr(of, object, value.get())); }
  Object* object;
};

// Others may run Python meanwhile.
class WithoutLock {
 public:
  WithoutLock() : state_(python.PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  ~WithoutLock() { python.PyEval_RestoreThread(state_); }

 private:
  void* state_;
};

}  // namespace portacl::record
