// Rows that are divided by their root mean square (see norm_rows.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/norm_rows.h"

namespace portacl::quantisation {

void AddNormed(DenseOpList& ops, engine::QuantiseNormed& job) {
  AddRows(ops, job,
          {BufferOf(job.x1), BufferOf(job.x2), BufferOf(job.gamma), BufferOf(job.beta), BufferOf(job.sum),
           BufferOf(job.normed), BufferOf(job.rstd), job.quantiser[0].codes, job.quantiser[1].codes,
           BufferOf(job.quantiser[0].scale.numbers), BufferOf(job.quantiser[1].scale.numbers),
           BufferOf(job.quantiser[0].offset.numbers), BufferOf(job.quantiser[1].offset.numbers),
           BufferOf(job.quantiser[0].row_step), BufferOf(job.quantiser[1].row_step)});
  ops.SetJob();
}

void SetRowsOf(DenseOpList& ops, const OperatorCall& call, int x, int gamma, int epsilon,
               engine::QuantiseNormed& job) {
  job.columns = call.Tensor(gamma).numel;
  job.rows = call.Tensor(x).numel / job.columns;
  job.eps = RealOf(call, epsilon);
  job.x1 = NumbersIn(ops, call, x);
  job.gamma = NumbersIn(ops, call, gamma);
}

}  // namespace portacl::quantisation
