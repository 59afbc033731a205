// Makes exceptions work inside this library, also if the loader hides it from the unwinder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// Makes sure that exceptions thrown in this library find their handlers. glibc's _dl_find_object (2.36 seen)
// does not know a library that was loaded as the filtee of one that dlopen loaded, and a throw in it ends the
// process. Called before code that throws; cheap.
void EnsureUnwinding() noexcept;

}  // namespace portacl
