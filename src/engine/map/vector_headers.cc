// Nothing but the headers that sources with vector code precompile (see CMakeLists.txt).
// SPDX-License-Identifier: Apache-2.0
