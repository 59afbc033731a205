// Nothing but headers that the build precompiles for several sources (see cmake/library_options.cmake).
// SPDX-License-Identifier: Apache-2.0
