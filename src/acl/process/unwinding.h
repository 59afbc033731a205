// Exceptions inside this library, also where the loader hides it from who unwinds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

// Makes sure that exceptions thrown in this library find their handlers. A library that came as the filtee of one that dlopen loaded is
// unknown to glibc's _dl_find_object (2.36 seen), and a throw in it ends the process. Called before code that throws; cheap.
void EnsureUnwinding() noexcept;

}  // namespace portacl
