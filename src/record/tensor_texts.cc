// SPDX-License-Identifier: Apache-2.0
#include "record/tensor_texts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

namespace portacl::record {
namespace {

constexpr std::size_t kMostForms = 4096;
constexpr std::size_t kMostViews = 64;  // of one memory, that are remembered

Object* free_memory = nullptr;  // torch.UntypedStorage._free_weak_ref

void Release(Object* object) {
  if (object != nullptr) python.Py_DecRef(object);
}

// Half a surrogate pair has no UTF-8.
bool IsBroken(Object* text) {
  Size size = 0;
  if (python.PyUnicode_AsUTF8AndSize(text, &size) != nullptr) return false;
  python.PyErr_Clear();
  return true;
}

std::string Copy(const Ref& text) { return std::string(Text(text)); }

}  // namespace

// Tells what is known of a piece of memory, until something is written into it: _Storage of _capture.py, which reads and
// sets the first fields. The memory's address is given to no other as long as this lives.
struct TensorTexts::Memory {
  Object head;
  Object* key;
  long long number;
  long long writes;
  Object* place;  // of the elements that `content` tells of, which Python described
  Object* content;
  long long summary;
  Object* views;
  struct Described {  // what is told here instead of the three before
    std::int64_t address = 0;
    std::int64_t count = 0;
    std::int32_t dtype = 0;
    std::shared_ptr<const Form> form;  // of elements that do not fill their memory
    long long writes = -1;             // at which this was so
    std::vector<std::pair<View, long long>> views;
    long long views_writes = -1;
  } described;
};

// A tensor that was described: by its number, once the call that describes it has been written. _Seen of _capture.py.
struct TensorTexts::Seen {
  Object head;
  Object* reference;
  long long writes;
  Object* storage;
  long long address;
  Object* form;
  Object* needs_grad;
  long long number;
  Object* view;
  struct Described {
    View view;
    bool has_name = false;
  } described;

  const Memory& memory() const { return *reinterpret_cast<const Memory*>(storage); }
};

bool Form::Fits(const Facts& facts) const {
  return facts.dtype == dtype && facts.rank == sizes.size() && facts.device_type == device_type &&
         facts.device == device && std::equal(sizes.begin(), sizes.end(), facts.sizes) &&
         std::equal(strides.begin(), strides.end(), facts.strides);
}

Object* TensorTexts::NewMemory(Object* type, Object* arguments, Object*) {
  try {
    Object* const storage = python.PyTuple_GetItem(arguments, 0);
    Object* const number = storage == nullptr ? nullptr : python.PyTuple_GetItem(arguments, 1);
    if (number == nullptr) return nullptr;
    static const Name weak_ref("_weak_ref");
    const long long count = Whole(number);
    Ref key = weak_ref.Call(storage);
    Object* const made = python.PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;  // the memory is never freed then, as little as there is
    auto* const memory = reinterpret_cast<Memory*>(made);
    new (&memory->described) Memory::Described();
    memory->key = key.Release();
    memory->number = count;
    memory->summary = -1;
    return made;
  } catch (const Raised&) {
    return nullptr;
  }
}

void TensorTexts::EndMemory(Object* object) {
  auto* const memory = reinterpret_cast<Memory*>(object);
  Object* const type = object->type;
  if (memory->key != nullptr && free_memory != nullptr) {
    Object *kind = nullptr, *value = nullptr, *trace = nullptr;
    python.PyErr_Fetch(&kind, &value, &trace);
    Object* const done = python.PyObject_CallFunctionObjArgs(free_memory, memory->key, nullptr);
    if (done == nullptr) python.PyErr_Clear();
    Release(done);
    python.PyErr_Restore(kind, value, trace);
  }
  for (Object* const owned : {memory->key, memory->place, memory->content, memory->views}) Release(owned);
  memory->described.~Described();
  python.PyObject_Free(object);
  python.Py_DecRef(type);
}

Object* TensorTexts::CallSeen(Object* object, Object*, Object*) {
  Object* const tensor = python.PyWeakref_GetObject(reinterpret_cast<Seen*>(object)->reference);
  if (tensor != nullptr) python.Py_IncRef(tensor);
  return tensor;
}

void TensorTexts::EndSeen(Object* object) {
  auto* const seen = reinterpret_cast<Seen*>(object);
  Object* const type = object->type;
  for (Object* const owned : {seen->reference, seen->storage, seen->form, seen->needs_grad, seen->view}) {
    Release(owned);
  }
  seen->described.~Described();
  python.PyObject_Free(object);
  python.Py_DecRef(type);
}

Object* TensorTexts::MakeType(const char* name, int size, Member* members, void* end, int slot,
                              void* content) {
  TypeSlot slots[] = {{kSlotMembers, members}, {kSlotEnd, end}, {slot, content}, {0, nullptr}};
  TypeSpec spec{name, size, 0, 0, slots};
  Object* const type = python.PyType_FromSpec(&spec);
  if (type == nullptr) throw Raised();
  return type;
}

TensorTexts::TensorTexts(const Known& known)
    : known_(known), remembered_(Whole(known.remembered)), named_(Whole(known.named)) {
#define PORTACL_MEMBER(type, name, kind) \
  { #name, kind, static_cast < Size>(offsetof(type, name)), 0, nullptr }
  static Member memory_members[] = {
      PORTACL_MEMBER(Memory, key, kMemberObject),     PORTACL_MEMBER(Memory, number, kMemberWhole),
      PORTACL_MEMBER(Memory, writes, kMemberWhole),   PORTACL_MEMBER(Memory, place, kMemberObject),
      PORTACL_MEMBER(Memory, content, kMemberObject), PORTACL_MEMBER(Memory, summary, kMemberWhole),
      PORTACL_MEMBER(Memory, views, kMemberObject),   {}};
  static Member seen_members[] = {
      PORTACL_MEMBER(Seen, writes, kMemberWhole),      PORTACL_MEMBER(Seen, storage, kMemberObject),
      PORTACL_MEMBER(Seen, address, kMemberWhole),     PORTACL_MEMBER(Seen, form, kMemberObject),
      PORTACL_MEMBER(Seen, needs_grad, kMemberObject), PORTACL_MEMBER(Seen, number, kMemberWhole),
      PORTACL_MEMBER(Seen, view, kMemberObject),       {}};
#undef PORTACL_MEMBER
  // The types live as long as the process, as their objects may.
  static Object* const memory_type =
      MakeType("portacl.recording.Storage", sizeof(Memory), memory_members,
               reinterpret_cast<void*>(EndMemory), kSlotNew, reinterpret_cast<void*>(NewMemory));
  static Object* const seen_type =
      MakeType("portacl.recording.Seen", sizeof(Seen), seen_members, reinterpret_cast<void*>(EndSeen),
               kSlotCall, reinterpret_cast<void*>(CallSeen));
  memory_type_ = memory_type;
  seen_type_ = seen_type;
  if (free_memory == nullptr) free_memory = Ref::Borrowed(known.free_memory).Release();
  void** const functions = reinterpret_cast<void**>(&torch_);
  if (python.PyTuple_Size(known.tensor_functions) != kTensorFunctions) throw Raised();
  for (Size i = 0; i < kTensorFunctions; ++i) {
    functions[i] = python.PyLong_AsVoidPtr(python.PyTuple_GetItem(known.tensor_functions, i));
  }
  names_.memory_type.Set(known.recorder, Ref::Borrowed(memory_type));
  prune_seen_at_ = Whole(names_.prune_seen_at.Of(known.recorder));
}

bool TensorTexts::Read(Object* tensor, Facts& facts) const {
  const Ref implementation = names_.cdata.Of(tensor);
  facts.tensor = python.PyLong_AsVoidPtr(implementation.get());
  std::int32_t layout = -1;
  std::int64_t rank = 0;
  std::int64_t *sizes = nullptr, *strides = nullptr;
  void* address = nullptr;
  if (facts.tensor == nullptr || torch_.layout(&facts.tensor, &layout) != 0 || layout != 0 ||
      torch_.dtype(&facts.tensor, &facts.dtype) != 0 ||
      torch_.device_type(&facts.tensor, &facts.device_type) != 0 ||
      torch_.device_index(&facts.tensor, &facts.device) != 0 || torch_.rank(&facts.tensor, &rank) != 0 ||
      torch_.sizes(&facts.tensor, &sizes) != 0 || torch_.strides(&facts.tensor, &strides) != 0 ||
      torch_.address(&facts.tensor, &address) != 0) {
    return false;
  }
  facts.rank = static_cast<std::size_t>(rank);
  facts.sizes = sizes;
  facts.strides = strides;
  facts.address = reinterpret_cast<std::intptr_t>(address);
  return true;
}

std::shared_ptr<const Form> TensorTexts::FormOf(const Facts& facts, Object* tensor) {
  const auto add = [this](const void* bytes, std::size_t size) {
    form_key_.append(static_cast<const char*>(bytes), size);
  };
  form_key_.clear();
  add(&facts.dtype, sizeof facts.dtype);
  add(&facts.device_type, sizeof facts.device_type);
  add(&facts.device, sizeof facts.device);
  add(facts.sizes, facts.rank * sizeof(std::int64_t));
  add(facts.strides, facts.rank * sizeof(std::int64_t));
  const auto found = forms_.find(form_key_);
  if (found != forms_.end()) return found->second;
  Ref object(python.PyObject_CallFunctionObjArgs(known_.form_of, tensor, nullptr));
  const Ref request = names_.request.Of(object);
  std::vector<std::int64_t> words;
  if (request.get() != known_.none) {
    for (Size i = 0; i < python.PyTuple_Size(request.get()); ++i) {
      words.push_back(Whole(python.PyTuple_GetItem(request.get(), i)));
    }
  }
  const Ref start = names_.start.Of(object);
  const Ref order_text = names_.order_text.Of(object);
  const std::int64_t count = Whole(names_.count.Of(object));
  const std::int64_t extent = Whole(names_.extent.Of(object));
  const std::int64_t item_size = Whole(names_.item_size.Of(object));
  const bool is_in_order = names_.order.Of(object).get() != known_.none;
  const bool is_complex = names_.is_complex.Of(object).get() == known_.yes;
  const auto form = std::make_shared<const Form>(Form{std::move(object),
                                                      facts.dtype,
                                                      facts.device_type,
                                                      facts.device,
                                                      {facts.sizes, facts.sizes + facts.rank},
                                                      {facts.strides, facts.strides + facts.rank},
                                                      std::string(Text(start).substr(1)),
                                                      Copy(order_text),
                                                      count,
                                                      extent,
                                                      item_size,
                                                      is_in_order,
                                                      is_complex,
                                                      std::move(words)});
  if (forms_.size() >= kMostForms) forms_.clear();
  forms_.emplace(form_key_, form);
  return form;
}

// Returns what is known of the memory. As long as that lives, no other memory has the address.
Ref TensorTexts::MemoryOf(Object* storage, const Ref& place) const {
  if (Object* const found = Found(known_.storages, place)) return Ref::Borrowed(found);
  return names_.find_memory.Call(known_.recorder, storage, place.get());
}

// Returns the same object, in the same memory, which nothing has written since; or nullptr.
const TensorTexts::Seen* TensorTexts::SeenOf(Object* tensor, const Ref& key, const Facts& facts,
                                             bool needs_grad) const {
  const Object* const found = Found(known_.seen, key);
  if (found == nullptr || found->type != seen_type_) return nullptr;
  const auto* const seen = reinterpret_cast<const Seen*>(found);
  const bool is_same = python.PyWeakref_GetObject(seen->reference) == tensor &&
                       seen->described.view.needs_grad == needs_grad &&
                       seen->writes == seen->memory().writes && seen->address == facts.address &&
                       seen->described.view.form->Fits(facts) && tensor_count_ - seen->number < remembered_;
  return is_same ? seen : nullptr;
}

// Returns the path of a parameter, borrowed, or nullptr.
Object* TensorTexts::NameOf(Object* tensor, const Ref& key) const {
  Object* const found = Found(known_.parameters, key);
  if (found == nullptr) return nullptr;
  Object* const reference = python.PyTuple_GetItem(found, 0);
  return python.PyWeakref_GetObject(reference) == tensor ? python.PyTuple_GetItem(found, 1) : nullptr;
}

// Asks for a summary of the elements, unless what is known of the memory tells of them.
void TensorTexts::Request(Contents& contents, const Facts& facts, const std::shared_ptr<const Form>& form,
                          Memory& memory) {
  Memory::Described& described = memory.described;
  const Form* const place = form->is_in_order ? nullptr : form.get();
  const bool is_same = described.writes == memory.writes &&
                       (memory.place == nullptr || memory.place == known_.none) &&
                       described.dtype == facts.dtype && described.address == facts.address &&
                       described.count == form->count && described.form.get() == place;
  if (is_same && summaries_ - memory.summary <= named_) return;
  const long long number = summaries_;
  summaries_ = number + 1;
  names_.summaries.Set(known_.deferred, Number(summaries_));
  contents.words.push_back(number);
  contents.words.push_back(facts.address);
  contents.words.insert(contents.words.end(), form->request.begin(), form->request.end());
  memory.summary = number;
  Release(std::exchange(memory.place, nullptr));
  described.writes = memory.writes;
  described.dtype = facts.dtype;
  described.address = facts.address;
  described.count = form->count;
  described.form = form->is_in_order ? nullptr : form;
}

void TensorTexts::AddWhatIsSame(const Form& form, std::int64_t offset, std::int64_t storage,
                                bool is_parameter, bool needs_grad, std::string& text) const {
  text += form.start;
  if (offset != 0) Append(text += ",\"offset\":", offset);
  Append(text += ",\"storage\":", storage);
  if (is_parameter) text += ",\"type\":\"Parameter\"";
  if (needs_grad) text += ",\"requires_grad\":true";
}

bool TensorTexts::AddTensor(Contents& contents, Object* tensor, std::string& text) {
  Facts facts{};
  if (!IsTensor(tensor) || !Read(tensor, facts)) return false;
  const Ref gradient = names_.requires_grad.Of(tensor);
  const bool needs_grad = gradient.get() == known_.yes;
  if (needs_grad) contents.needs_grad = true;
  const Ref key(python.PyLong_FromVoidPtr(tensor));
  if (const Seen* const seen = SeenOf(tensor, key, facts, needs_grad)) {
    Append(text, seen->number);
    return true;
  }
  const std::shared_ptr<const Form> form = FormOf(facts, tensor);
  if (form->request.empty() || names_.is_neg.Call(tensor).get() == known_.yes) return false;
  const Ref storage = names_.untyped_storage.Call(tensor);
  const Ref place = names_.cdata.Of(storage);
  if (python.PySet_Size(known_.uncached) > 0 && python.PySet_Contains(known_.uncached, place.get()) != 0) {
    return false;
  }
  Ref owned = MemoryOf(storage.get(), place);
  auto& memory = *reinterpret_cast<Memory*>(owned.get());
  const bool is_parameter = tensor->type == known_.parameter_type;
  Object* const name = NameOf(tensor, key);
  View view{facts.address, form, needs_grad, is_parameter};
  if (name == nullptr && memory.described.views_writes == memory.writes) {
    for (const auto& [other, number] : memory.described.views) {
      if (other == view && tensor_count_ - number < remembered_) {
        Append(text, number);
        return true;
      }
    }
  }
  std::int64_t offset = 0, bytes = 0;
  if (torch_.offset(&facts.tensor, &offset) != 0 || torch_.storage_bytes(&facts.tensor, &bytes) != 0 ||
      (offset + form->extent) * form->item_size > bytes) {
    return false;
  }
  Request(contents, facts, form, memory);
  const long long number = tensor_count_;
  Append(text += "{\"id\":", number);
  text += ',';
  AddWhatIsSame(*form, offset, memory.number, is_parameter, needs_grad, text);
  if (name != nullptr) AddQuoted(Text(name), text += ",\"name\":");
  Append(text += ",\"kept\":\1", memory.summary);
  (text += '\2') += form->order_text.empty() ? std::string_view("\"") : std::string_view(form->order_text);
  text += '}';

  tensor_count_ = number + 1;
  names_.tensor_count.Set(known_.recorder, Number(tensor_count_));
  Ref reference(python.PyWeakref_NewRef(tensor, nullptr));
  Ref made(python.PyType_GenericAlloc(seen_type_, 0));
  auto* const seen = reinterpret_cast<Seen*>(made.get());
  new (&seen->described) Seen::Described{std::move(view), name != nullptr};
  seen->reference = reference.Release();
  seen->writes = memory.writes;
  seen->storage = owned.Release();
  seen->address = facts.address;
  seen->form = Ref::Borrowed(form->object.get()).Release();
  seen->needs_grad = Ref::Borrowed(gradient.get()).Release();
  seen->number = number;
  contents.new_ones.push_back(std::move(made));
  return true;
}

void TensorTexts::AddQuoted(std::string_view text, std::string& to) const {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char one) {
    return one >= ' ' && one <= '~' && one != '"' && one != '\\';
  });
  if (is_plain) {
    ((to += '"') += text) += '"';
    return;
  }
  const Ref whole = TextRef(text);
  const Ref quoted(python.PyObject_CallFunctionObjArgs(known_.quote, whole.get(), nullptr));
  to += Text(quoted);
}

void TensorTexts::Merge(Contents& contents) {
  tensor_count_ = Whole(names_.tensor_count.Of(known_.recorder));
  summaries_ = Whole(names_.summaries.Of(known_.deferred));
  if (!contents.python) return;
  Object* const there = contents.python->get();
  if (names_.needs_grad.Of(there).get() == known_.yes) contents.needs_grad = true;
  const Ref work = names_.work.Of(there);
  const Size count = python.PyList_Size(work.get());
  if (count <= 0) return;
  for (Size i = 0; i < count; ++i) contents.words.push_back(Whole(python.PyList_GetItem(work.get(), i)));
  names_.work.Set(there, Ref(python.PyList_New(0)));
}

void TensorTexts::AddByPython(Contents& contents, const Name& method, Object* value, std::string& text) {
  if (!contents.python) {
    contents.python.emplace(
        Ref(python.PyObject_CallFunctionObjArgs(known_.contents_type, known_.recorder, nullptr)));
    if (contents.arguments != nullptr) BeginAgain(contents);
  }
  const Ref told = method.Call(contents.python->get(), value);
  Merge(contents);
  text += Text(told);
}

void TensorTexts::Add(Contents& contents, Object* value, std::string& text) {
  const Object* const type = value->type;
  if (IsTensor(value)) {
    text += "{\"tensor\":";
    if (!AddTensor(contents, value, text)) AddByPython(contents, names_.anew, value, text);
    text += '}';
  } else if (value == known_.none) {
    text += "null";
  } else if (value == known_.yes || value == known_.no) {
    text += value == known_.yes ? "true" : "false";
  } else if (type == known_.int_type) {
    int overflow = 0;
    const long long number = python.PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
      Append(text, number);
    } else {
      text += Text(Ref(python.PyObject_Str(value)));
    }
  } else if (IsList(value)) {
    text += '[';
    AddAll(contents, value, text);
    text += ']';
  } else if (type == known_.float_type && std::isfinite(python.PyFloat_AsDouble(value))) {
    text += Text(Ref(python.PyObject_Repr(value)));
  } else if (type == known_.text_type && !IsBroken(value)) {
    AddQuoted(Text(value), text);
  } else if (type == known_.device_type) {
    AddQuoted(Text(Ref(python.PyObject_Str(value))), text += "{\"device\":");
    text += '}';
  } else if (const auto found = constants_.find(value); found != constants_.end()) {
    text += found->second.second;
  } else {
    const std::size_t before = text.size();
    AddByPython(contents, names_.json, value, text);
    if (python.PySet_Contains(known_.named_types, value->type) == 1) {
      constants_.emplace(value, std::make_pair(Ref::Borrowed(value), text.substr(before)));
    }
  }
}

void TensorTexts::AddAll(Contents& contents, Object* values, std::string& text) {
  const bool is_list = values->type == known_.list_type;
  for (Size i = 0; i < (is_list ? python.PyList_Size(values) : python.PyTuple_Size(values)); ++i) {
    const Ref value =
        Ref::Borrowed(is_list ? python.PyList_GetItem(values, i) : python.PyTuple_GetItem(values, i));
    if (i > 0) text += ',';
    Add(contents, value.get(), text);
  }
}

void TensorTexts::AddShape(Contents& contents, Object* value, std::string& text) {
  Facts facts{};
  if (!IsTensor(value) || !Read(value, facts)) return AddByPython(contents, names_.shape, value, text);
  const std::shared_ptr<const Form> form = FormOf(facts, value);
  std::int64_t offset = 0;
  if (form->is_complex || names_.is_neg.Call(value).get() == known_.yes ||
      torch_.offset(&facts.tensor, &offset) != 0) {
    return AddByPython(contents, names_.shape, value, text);
  }
  const bool needs_grad = names_.requires_grad.Of(value).get() == known_.yes;
  if (needs_grad) contents.needs_grad = true;
  const Ref storage = names_.untyped_storage.Call(value);
  const Ref memory = MemoryOf(storage.get(), names_.cdata.Of(storage));
  text += "{\"tensor\":{";
  AddWhatIsSame(*form, offset, reinterpret_cast<const Memory*>(memory.get())->number,
                value->type == known_.parameter_type, needs_grad, text);
  text += ",\"kept\":\"summary\"}}";
}

void TensorTexts::See(Contents& contents) {
  for (Ref& owned : contents.new_ones) {
    auto* const seen = reinterpret_cast<Seen*>(owned.get());
    Object* const tensor = python.PyWeakref_GetObject(seen->reference);
    if (tensor != nullptr && tensor != known_.none) {
      const Ref key(python.PyLong_FromVoidPtr(tensor));
      Check(python.PyDict_SetItem(known_.seen, key.get(), owned.get()));
    }
    auto& memory = *reinterpret_cast<Memory*>(seen->storage);
    if (seen->described.has_name || seen->writes != memory.writes) continue;
    auto& views = memory.described.views;
    if (memory.described.views_writes != memory.writes || views.size() >= kMostViews) {
      views.clear();
      memory.described.views_writes = memory.writes;
    }
    const auto same = std::find_if(views.begin(), views.end(),
                                   [seen](const auto& one) { return one.first == seen->described.view; });
    if (same != views.end()) {
      same->second = seen->number;
    } else {
      views.emplace_back(seen->described.view, seen->number);
    }
  }
  contents.new_ones.clear();
  if (contents.python) {
    (void)names_.see.Call(known_.recorder, names_.new_ones.Of(contents.python->get()).get());
  } else if (python.PyDict_Size(known_.seen) < prune_seen_at_) {
    return;
  } else {
    (void)names_.prune_seen.Call(known_.recorder);
  }
  prune_seen_at_ = Whole(names_.prune_seen_at.Of(known_.recorder));
}

void TensorTexts::Forget(Object* tensor) {
  try {
    const Ref storage = names_.untyped_storage.Call(tensor);
    Object* const found = Found(known_.storages, names_.cdata.Of(storage));
    if (found == nullptr) return;
    auto& memory = *reinterpret_cast<Memory*>(found);
    ++memory.writes;
    Release(std::exchange(memory.place, nullptr));
    Release(std::exchange(memory.views, nullptr));
  } catch (const Raised&) {
    if (python.PyErr_ExceptionMatches(known_.exception) == 0) throw;
    python.PyErr_Clear();  // it has no storage
  }
}

}  // namespace portacl::record
