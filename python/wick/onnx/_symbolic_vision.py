"""How torchvision's operators, and random numbers, are exported."""
import wick

from ._rows import need_opset, row
from ._symbolic_shape import dtype_number
from .errors import SymbolicValueError


@row("torchvision::nms")
def _nms(g, boxes, scores, threshold):
    boxes = g.op("Unsqueeze", g.cast(boxes, wick.float32), [0])
    scores = g.op("Unsqueeze", g.cast(scores, wick.float32), [0, 1])
    most = g.constant(wick.tensor([(1 << 63) - 1]))
    chosen = g.op("NonMaxSuppression", boxes, scores, most, g.constant(wick.tensor([float(threshold)])))
    return g.op("Gather", chosen, g.constant(2), axis_i=1)


@row("torchvision::roi_align")
def _roi_align(g, x, boxes, scale, height, width, samples, aligned):
    if aligned:
        need_opset(g, 16, "roi_align with aligned=True")
    index = g.op("Gather", boxes, g.constant(0), axis_i=1)
    corners = g.op("Slice", boxes, [1], [5], [1])
    return g.op("RoiAlign", x, corners, g.cast(index, wick.int64), spatial_scale_f=float(scale),
                output_height_i=height, output_width_i=width, sampling_ratio_i=max(samples, 0), mode_s="avg",
                coordinate_transformation_mode_s=None if g.opset < 16 else
                "half_pixel" if aligned else "output_half_pixel")


@row("torchvision::roi_pool")
def _roi_pool(g, x, boxes, scale, height, width):
    return g.op("MaxRoiPool", x, boxes, pooled_shape_i=[height, width], spatial_scale_f=float(scale)), None


# ---- random numbers ----

def _drawn(name, kind):
    @row(name)
    def draw(g, sizes, dtype=None, *rest):
        dtype = wick.get_default_dtype() if dtype is None else dtype_number(dtype)
        if not dtype.is_floating_point:
            raise SymbolicValueError("%s of integers" % name)
        return g.op(kind, g.op("ConstantOfShape", sizes, value_t=wick.zeros(1, dtype=dtype)))

    @row(name + "_like")
    def draw_like(g, x, dtype=None, *rest):
        return g.op(kind, x if dtype is None else g.cast(x, dtype_number(dtype)))


_drawn("rand", "RandomUniformLike")
_drawn("randn", "RandomNormalLike")


@row("bernoulli")
def _bernoulli(g, x, *rest):
    need_opset(g, 15, "bernoulli")
    return g.op("Bernoulli", x)
