"""Builds a throw-away library that has every aclnn function by name, records which are called and computes nothing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

_HEAD = """
#include <pthread.h>
#include <string.h>
#define EXPORT __attribute__((visibility("default")))
static char text[1 << 20];
static size_t length;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void record(const char* name) {
  size_t n = strlen(name);
  pthread_mutex_lock(&mutex);
  if (length + n + 2 < sizeof text) {
    memcpy(text + length, name, n);
    length += n;
    text[length++] = '\\n';
    text[length] = 0;
  }
  pthread_mutex_unlock(&mutex);
}
EXPORT const char* stand_in_record(void) { return text; }
EXPORT void stand_in_forget(void) { length = 0; text[0] = 0; }
EXPORT int aclopCompileAndExecute(const char* type) { record("legacy"); record(type); return 0; }
EXPORT int aclopCompileAndExecuteV2(const char* type) { record("legacy"); record(type); return 0; }
"""


def build(names: list[str], folder: Path, others: list[str]) -> Path:
    """The library, as libopapi.so in `folder`. `names`: aclnn functions without GetWorkspaceSize.

    `others`: names of the libraries that are searched as well, which lead to the same one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "stand_in.c"
    functions = "".join(
        f'EXPORT int {name}GetWorkspaceSize(void) {{ record("{name}"); return 0; }}\nEXPORT int {name}(void) {{ return 0; }}\n'
        for name in names
    )
    source.write_text(_HEAD + functions)
    library = folder / "libopapi.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-Wl,-soname,libopapi.so"], check=True)
    for other in others:
        (folder / other).symlink_to(library.name)
    return library


class Record:
    """What the loaded library recorded."""

    def __init__(self, library: Path):
        self._library = ctypes.CDLL(str(library))
        self._library.stand_in_record.restype = ctypes.c_char_p

    def take(self) -> list[str]:
        """Calls since the last take: names of functions, and "legacy" followed by a graph operator's type."""
        calls = self._library.stand_in_record().decode().split("\n")[:-1]
        self._library.stand_in_forget()
        return calls
