/* FuseShapes: what the results of a group's steps look like, kept from one run for the next. Shape functions read their
 * operands' dtypes, sizes and strides, and numbers only where `depends_on_numbers` says so: for operands of the same
 * looks they need not be asked again. A run has what is kept for itself; runs beside it ask the shape functions. */
#pragma once

#include "fuse/lower.h"

typedef struct FuseLeafLook {
  int ndim;
  int64_t sizes[FUSE_MAX_DIMS], strides[FUSE_MAX_DIMS];
} FuseLeafLook;
struct FuseShapes {
  bool is_filled; /* `looks` are those of the operands that `key` and `leaves` tell */
  uint8_t key[FUSE_MAX_INPUTS];
  FuseLeafLook *leaves;
  Tensor looks[]; /* of the steps' results */
};

/* NULL: the group's results depend on more, or there is no memory. */
FuseShapes *fuse_shapes_take(FuseGroup *group);
void fuse_shapes_give_back(FuseGroup *group, FuseShapes *shapes);
void fuse_shapes_free(FuseShapes *shapes);
/* key: the bytes of the group's inputs, fuse_key_of_tensor and fuse_key_of_number. */
bool fuse_shapes_are_for(const FuseShapes *shapes, const FuseCall *call, const uint8_t *key);
/* Says for which operands `looks` have been filled. */
void fuse_shapes_fill(FuseShapes *shapes, const FuseCall *call, const uint8_t *key);
