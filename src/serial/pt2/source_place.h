/* Where in the model's source a node comes from: `File "net.py", line 12, in forward` and that line, as the file's
 * metadata have it. Profiles and errors show it. */
#pragma once

#include "serial/pt2/builder.h"

/* Of the innermost call; what the graph's range is where the node does not say. */
SourceRange pt2_source_place(Pt2Builder *b, const Json *node);
