// acl/acl_mdl.h: placeholder, so that the include chain is CANN's. It declares nothing.
// SPDX-License-Identifier: Apache-2.0
//
// In CANN this file belongs to the graph engine's package: offline-model interface (functions named aclmdl*,
// except aclmdlRI*). The runtime's package installs an empty file of this name, as here. No program that
// calls aclnn operators needs it.
#ifndef PORTACL_ACL_ACL_MDL_H_
#define PORTACL_ACL_ACL_MDL_H_

#endif  // PORTACL_ACL_ACL_MDL_H_
