// SPDX-License-Identifier: Apache-2.0
#include "record/python_objects.h"

#include <dlfcn.h>

#include <type_traits>

namespace portacl::record {

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
  PORTACL_FIND(PyErr_ExceptionMatches);
  PORTACL_FIND(PyErr_Fetch);
  PORTACL_FIND(PyErr_NormalizeException);
  PORTACL_FIND(PyErr_Restore);
  PORTACL_FIND(PyErr_SetString);
  PORTACL_FIND(PyObject_GetAttr);
  PORTACL_FIND(PyObject_SetAttr);
  PORTACL_FIND(PyObject_HasAttrString);
  PORTACL_FIND(PyObject_Call);
  PORTACL_FIND(PyObject_CallMethodObjArgs);
  PORTACL_FIND(PyObject_CallFunctionObjArgs);
  PORTACL_FIND(PyObject_IsInstance);
  PORTACL_FIND(PyObject_Repr);
  PORTACL_FIND(PyObject_Str);
  PORTACL_FIND(PyObject_Free);
  PORTACL_FIND(PyDict_GetItemWithError);
  PORTACL_FIND(PyDict_SetItem);
  PORTACL_FIND(PyDict_Next);
  PORTACL_FIND(PyDict_Size);
  PORTACL_FIND(PySet_Contains);
  PORTACL_FIND(PySet_Size);
  PORTACL_FIND(PyList_Size);
  PORTACL_FIND(PyList_GetItem);
  PORTACL_FIND(PyList_New);
  PORTACL_FIND(PyList_Append);
  PORTACL_FIND(PyTuple_Size);
  PORTACL_FIND(PyTuple_GetItem);
  PORTACL_FIND(PyTuple_Pack);
  PORTACL_FIND(PyLong_FromVoidPtr);
  PORTACL_FIND(PyLong_AsVoidPtr);
  PORTACL_FIND(PyLong_FromLongLong);
  PORTACL_FIND(PyLong_AsLongLong);
  PORTACL_FIND(PyLong_AsUnsignedLongLong);
  PORTACL_FIND(PyLong_AsLongLongAndOverflow);
  PORTACL_FIND(PyFloat_AsDouble);
  PORTACL_FIND(PyUnicode_InternFromString);
  PORTACL_FIND(PyUnicode_FromStringAndSize);
  PORTACL_FIND(PyUnicode_AsUTF8AndSize);
  PORTACL_FIND(PyCapsule_New);
  PORTACL_FIND(PyCapsule_GetPointer);
  PORTACL_FIND(PyCFunction_NewEx);
  PORTACL_FIND(PyType_FromSpec);
  PORTACL_FIND(PyType_GenericAlloc);
  PORTACL_FIND(PyWeakref_NewRef);
  PORTACL_FIND(PyWeakref_GetObject);
  PORTACL_FIND(PyEval_GetFrame);
  PORTACL_FIND(PyFrame_GetBack);
  PORTACL_FIND(PyFrame_GetCode);
  PORTACL_FIND(PyEval_SaveThread);
  PORTACL_FIND(PyEval_RestoreThread);
#undef PORTACL_FIND
  return is_there;
}

}  // namespace portacl::record
