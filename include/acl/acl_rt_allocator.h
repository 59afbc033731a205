// acl/acl_rt_allocator.h: place of the user-registered memory allocators. It declares nothing yet.
// SPDX-License-Identifier: Apache-2.0
//
// acl_rt.h includes this file as CANN's does. portacl takes device memory from aclrtMalloc only; a program
// cannot register an allocator of its own for a stream.
#ifndef PORTACL_ACL_ACL_RT_ALLOCATOR_H_
#define PORTACL_ACL_ACL_RT_ALLOCATOR_H_

#endif  // PORTACL_ACL_ACL_RT_ALLOCATOR_H_
