// Reaches every declared function by linking and, through every library name given as an argument, by dlopen and dlsym,
// and expects one address for each function. With ONLY_DLOPEN the program links to none of the libraries.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "every_header.inc"

typedef void (*Function)(void);

typedef struct {
  const char* name;
  Function linked;
} Declared;

#ifdef ONLY_DLOPEN
#define DECLARED(name) {#name, NULL},
#else
#define DECLARED(name) {#name, (Function)(name)},
#endif
static Declared declared[] = {
#include "every_function.inc"
};

int main(int argc, char** argv) {
  const size_t count = sizeof(declared) / sizeof(declared[0]);
  int faults = 0;
  for (int library = 1; library < argc; ++library) {
    void* handle = dlopen(argv[library], RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
      printf("%s\n", dlerror());
      return 1;
    }
    for (size_t i = 0; i < count; ++i) {
      void* symbol = dlsym(handle, declared[i].name);
      Function found = NULL;
      memcpy(&found, &symbol, sizeof(found));
      if (declared[i].linked == NULL) declared[i].linked = found;
      if (found == NULL || found != declared[i].linked) {
        printf("%s: %s %s\n", argv[library], declared[i].name,
               found == NULL ? "not found" : "has another address");
        ++faults;
      }
    }
  }
  return faults == 0 ? 0 : 1;
}
