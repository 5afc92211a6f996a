/* Keeping what the results of a group's steps look like. */
#include "fuse/kept_shapes.h"

#include <assert.h>

FuseShapes *fuse_shapes_take(FuseGroup *group) {
  if (group->depends_on_numbers) return NULL;
  FuseShapes *shapes = atomic_exchange(&group->shapes, NULL);
  if (shapes) return shapes;
  size_t results = (size_t)(group->value_count - group->input_count - group->piece_count);
  size_t looks = sizeof *shapes + results * sizeof *shapes->looks;
  shapes = mem_alloc(looks + group->leaf_count * sizeof *shapes->leaves);
  if (!shapes) return NULL;
  shapes->is_filled = false;
  shapes->leaves = (FuseLeafLook *)((char *)shapes + looks);
  return shapes;
}

void fuse_shapes_give_back(FuseGroup *group, FuseShapes *shapes) {
  fuse_shapes_free(atomic_exchange(&group->shapes, shapes));
}

void fuse_shapes_free(FuseShapes *shapes) {
  mem_free(shapes);
}

bool fuse_shapes_are_for(const FuseShapes *shapes, const FuseCall *call, const uint8_t *key) {
  const FuseGroup *g = call->group;
  if (!shapes->is_filled || memcmp(shapes->key, key, g->input_count)) return false;
  for (uint32_t i = 0; i < g->leaf_count; i++) {
    const Tensor *t = call->values[g->leaves[i]];
    const FuseLeafLook *leaf = &shapes->leaves[i];
    if (leaf->ndim != t->ndim) return false;
    for (int d = 0; d < t->ndim; d++)
      if (leaf->sizes[d] != t->sizes[d] || leaf->strides[d] != t->strides[d]) return false;
  }
  return true;
}

void fuse_shapes_fill(FuseShapes *shapes, const FuseCall *call, const uint8_t *key) {
  const FuseGroup *g = call->group;
  memcpy(shapes->key, key, g->input_count);
  for (uint32_t i = 0; i < g->leaf_count; i++) {
    const Tensor *t = call->values[g->leaves[i]];
    FuseLeafLook *leaf = &shapes->leaves[i];
    assert(t->ndim <= FUSE_MAX_DIMS);
    leaf->ndim = t->ndim;
    memcpy(leaf->sizes, t->sizes, sizeof(int64_t) * t->ndim);
    memcpy(leaf->strides, t->strides, sizeof(int64_t) * t->ndim);
  }
  shapes->is_filled = true;
}
