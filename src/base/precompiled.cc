// Nothing but headers that the build precompiles for several sources (see CMakeLists.txt).
// SPDX-License-Identifier: Apache-2.0
