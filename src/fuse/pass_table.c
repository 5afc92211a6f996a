/* The passes of this folder by name. */
#include "fuse/fuse.h"
#include "pass/pass.h"

static void run_fuse_graph(Graph *graph, Exec *exec) {
  (void)exec;
  fuse_graph(graph, NULL);
}

static const Pass passes[] = {
    {"fuse_graph", "makes groups of pointwise operators that run as one", run_fuse_graph, KEEPS_RESULTS},
};
const PassTable pass_table_fuse = {passes, sizeof passes / sizeof *passes};
