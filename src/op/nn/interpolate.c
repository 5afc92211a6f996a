/* What F.interpolate and F.upsample were in archives of PyTorch 1.0 to 1.4: sizes and scales as one number or a
 * list. */
#include "call/row.h"

#define INTERPOLATE(overload, size, scale)                                                        \
  {                                                                                               \
    .schema = "aten::__interpolate" overload "(Tensor input, " size "? size=None, " scale         \
              "? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? "       \
              "recompute_scale_factor=None, bool antialias=False) -> Tensor",                     \
    .body =                                                                                       \
        "return torch.nn.functional.interpolate(input, size, scale_factor, mode, align_corners, " \
        "recompute_scale_factor, antialias)"                                                      \
  }
#define UPSAMPLE(overload, size)                                                                    \
  {                                                                                                 \
    .schema = "aten::__upsample" overload "(Tensor input, " size                                    \
              "? size=None, int? scale_factor=None, str "                                           \
              "mode=\"nearest\", bool? align_corners=None) -> Tensor",                              \
    .body = SCALE "return torch.nn.functional.interpolate(input, size, scale, mode, align_corners)" \
  }
#define UPSAMPLE_NEAREST(overload, size)                                                  \
  {                                                                                       \
    .schema = "aten::__upsample_nearest" overload "(Tensor input, " size                  \
              "? size=None, int? scale_factor=None) "                                     \
              "-> Tensor",                                                                \
    .body = SCALE "return torch.nn.functional.interpolate(input, size, scale, 'nearest')" \
  }
#define UPSAMPLE_BILINEAR(overload, size, scale, given)                                          \
  {                                                                                              \
    .schema = "aten::__upsample_bilinear" overload "(Tensor input, " size "? size=None, " scale  \
              "? scale_factor=None) -> Tensor",                                                  \
    .body = given "return torch.nn.functional.interpolate(input, size, scale, 'bilinear', True)" \
  }
#define SCALE "scale: Optional[float] = None\nif scale_factor is not None:\n    scale = float(scale_factor)\n"
#define SCALES \
  "scale: Optional[List[float]] = None\nif scale_factor is not None:\n    scale = [float(s) for s in scale_factor]\n"

static const OpRow rows[] = {
    INTERPOLATE(".scale_list", "int", "float[]"),
    INTERPOLATE(".size_list_scale_list", "int[]", "float[]"),
    INTERPOLATE("", "int", "float"),
    INTERPOLATE(".size_list", "int[]", "float"),
    UPSAMPLE("", "int"),
    UPSAMPLE(".size_list", "int[]"),
    UPSAMPLE_NEAREST("", "int"),
    UPSAMPLE_NEAREST(".size_list", "int[]"),
    UPSAMPLE_BILINEAR("", "int", "int", SCALE),
    UPSAMPLE_BILINEAR(".size_list", "int[]", "int", SCALE),
    UPSAMPLE_BILINEAR(".scale_list", "int", "int[]", SCALES),
    UPSAMPLE_BILINEAR(".size_list_scale_list", "int[]", "int[]", SCALES),
};
OP_TABLE(op_table_interpolate, rows);
