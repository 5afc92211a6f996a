# Where 1.13 rounds to bfloat16 between the steps of an operator, so that its results differ from those of a computation in float.
def layer(x: Tensor, w: Tensor, b: Tensor) -> List[Tensor]:
    n = x.size(1)
    y, mean, scale = torch.native_layer_norm(x, [n], w, b, 1e-5)
    return [y, mean, scale, F.layer_norm(x, [n]), F.layer_norm(x, [n], w)]


def group(x: Tensor, w: Tensor, b: Tensor) -> List[Tensor]:
    return [F.group_norm(x, 2, w, b), F.group_norm(x, 3), F.group_norm(x, 3, w), F.group_norm(x, 1, None, b, 0.1)]


def batch(x: Tensor, w: Tensor, b: Tensor, mean: Tensor, var: Tensor) -> List[Tensor]:
    return [F.batch_norm(x, None, None, w, b, True), F.batch_norm(x, mean, var, w, b), F.instance_norm(x),
            F.batch_norm(x, None, None, w.float(), b.float(), True)]


def lines(x: Tensor) -> List[Tensor]:
    y = x.select(1, 0)
    return [F.interpolate(y, size=7, mode='linear', align_corners=True), F.interpolate(y, size=3, mode='linear'),
            F.interpolate(y, scale_factor=1.7, mode='linear')]


def planes(x: Tensor) -> List[Tensor]:
    return [F.interpolate(x, size=[3, 7], mode='bilinear', align_corners=True),
            F.interpolate(x, size=[9, 4], mode='bilinear', align_corners=False),
            F.interpolate(x, size=[3, 7], mode='bicubic', align_corners=True),
            F.interpolate(x, size=[9, 4], mode='bicubic', align_corners=False)]


def volumes(x: Tensor) -> Tensor:
    return F.interpolate(x.unsqueeze(2).expand(-1, -1, 3, -1, -1).cumsum(2), size=[5, 3, 7], mode='trilinear')


def log_softmax(x: Tensor) -> List[Tensor]:
    return [x.log_softmax(-1), x.log_softmax(0)]
