/* The passes of this folder by name. */
#include "fuse/fuse.h"
#include "pass/pass.h"

static const Pass *const passes[] = {&pass_graph_fuser};
const PassTable pass_table_fuse = {passes, sizeof passes / sizeof *passes};
