// A module whose one function has a frame of FRAME bytes: two of them differ in nothing else, so that one comes to the other's place.
// SPDX-License-Identifier: Apache-2.0
extern "C" __attribute__((noinline, visibility("default"))) void CallFramed(void (*call)(void*),
                                                                            void* context) {
  char room[FRAME];
  asm volatile("" : : "r"(room) : "memory");
  call(context);
  asm volatile("" : : "r"(room) : "memory");
}
