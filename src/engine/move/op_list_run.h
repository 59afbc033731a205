// The functions of listed ops that have no plan of their own (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/move/indexed.h"

namespace portacl::engine {

void SumRows(const ListedOp& step, const JobContext& context);
void DivideRows(const ListedOp& step, const JobContext& context);
void FindTrue(const ListedOp& op, const JobContext& context);
void WriteCompacted(const ListedOp& op, const JobContext& context);

// Fails the stream and reports the first bad index, by the logical position of its element.
void ReportBadIndex(const IndexedMove& move, const JobContext& context, int64_t position);

}  // namespace portacl::engine
