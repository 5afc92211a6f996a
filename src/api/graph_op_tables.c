/* The one list of the tables of rows whose kernels are folders' after op: operators that read their node, or ask the
 * engine of gradients. Sorted. */
#include "call/operator.h"

extern const OpTable op_table_autograd;
extern const OpTable op_table_batch_mm;
extern const OpTable op_table_fuse;

const OpTable *const graph_op_tables[] = {
    &op_table_autograd,
    &op_table_batch_mm,
    &op_table_fuse,
    NULL,
};
