// Nothing but the headers that the tests precompile (see CMakeLists.txt).
// SPDX-License-Identifier: Apache-2.0
