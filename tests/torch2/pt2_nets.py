"""The nets of torchvision and timm that record_pt2.py exports, narrow and shallow where they can be."""

import torch
from torch import nn

try:
    import torchvision
    from torchvision import models
except ImportError:
    torchvision = None
try:
    import timm
except ImportError:
    timm = None

VISION = (
    """alexnet vgg11_bn vgg11 resnet18 densenet121 efficientnet_b0 efficientnet_b1 googlenet mnasnet0_5 mnasnet1_0
mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_400mf regnet_y_400mf shufflenet_v2_x0_5 shufflenet_v2_x1_0
squeezenet1_0 squeezenet1_1 s3d lraspp_mobilenet_v3_large deeplabv3_mobilenet_v3_large ssdlite320_mobilenet_v3_large
fasterrcnn_mobilenet_v3_large_320_fpn resnet34 inception_v3 maxvit_t raft_small mc3_18 efficientnet_v2_s""".split()
)
TIMM = """bat_resnext26ts botnet26t_256 cait_xxs24_224 coat_lite_tiny convit_tiny convmixer_768_32 convnext_atto
convnextv2_atto crossvit_tiny_240 cs3darknet_s deit_tiny_patch16_224 eca_nfnet_l0 edgenext_xx_small
efficientformerv2_s0
efficientvit_m0 eva02_tiny_patch14_224 fastvit_t8 fbnetc_100 gcresnext26ts ghostnet_100 lcnet_050 levit_128s
mambaout_femto mixnet_s mobilenetv4_conv_small mobilevit_xxs mobilevitv2_050 pit_ti_224 pvt_v2_b0 regnety_002
repghostnet_050 repvit_m0_9 res2net50_14w_8s rexnet_100 sequencer2d_s starnet_s1 tinynet_e tiny_vit_5m_224
vit_tiny_patch16_224 xcit_nano_12_p8_224 poolformer_s12 resmlp_12_224 visformer_tiny inception_next_tiny""".split()


def vision(name):
    make = models.get_model_builder(name)
    try:
        net = make(weights=None, weights_backbone=None, num_classes=10)
    except (TypeError, ValueError):
        net = make(weights=None) if "raft" in name else make(weights=None, num_classes=10)
    if name.startswith(("vgg", "alexnet")):  # three products that are most of the net
        for i, part in enumerate(net.classifier):
            if isinstance(part, nn.Linear):
                net.classifier[i] = nn.Linear(
                    part.in_features if part.in_features > 5000 else 32, 10 if part.out_features == 10 else 32
                )
    return net


def inputs(name, seed=1, batch=1):
    draw = torch.Generator().manual_seed(seed)
    if "rcnn" in name or "ssd" in name or "retina" in name or "fcos" in name:
        return ([torch.rand(3, 96, 128, generator=draw), torch.rand(3, 80, 100, generator=draw)],)
    if "raft" in name:
        return tuple(torch.rand(1, 3, 128, 128, generator=draw) * 2 - 1 for _ in range(2))
    size = {"inception_v3": 80, "maxvit_t": 224, "vit_small": 64, "alexnet": 96}.get(name, 64)
    if name in ("s3d", "mc3_18", "r3d_small"):
        return (torch.rand(batch, 3, 16, 64, 64, generator=draw),)
    return (torch.rand(batch, 3, size, size, generator=draw),)


def cases(Case):
    made = []

    def add(name, make, calls, **options):
        made.append(Case(name, make, calls, **options))

    if torchvision:
        small = {
            "vit_small": lambda: models.VisionTransformer(64, 16, 2, 3, 48, 96, num_classes=10),
            "swin_small": lambda: models.SwinTransformer([4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=10),
            "swin_v2_small": lambda: models.SwinTransformer(
                [4, 4],
                24,
                [2, 2],
                [2, 4],
                [4, 4],
                num_classes=10,
                block=models.swin_transformer.SwinTransformerBlockV2,
                downsample_layer=models.swin_transformer.PatchMergingV2,
            ),
            "convnext_small": lambda: models.ConvNeXt(
                [models.convnext.CNBlockConfig(16, 32, 2), models.convnext.CNBlockConfig(32, None, 2)],
                num_classes=10,
            ),
            "resnet_bottleneck": lambda: models.ResNet(models.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10),
            "resnext_small": lambda: models.ResNet(
                models.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10, groups=32, width_per_group=4
            ),
            "wide_resnet_small": lambda: models.ResNet(
                models.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10, width_per_group=96
            ),
            "r3d_small": lambda: models.video.resnet.VideoResNet(
                models.video.resnet.BasicBlock,
                [models.video.resnet.Conv3DSimple] * 4,
                [1, 1, 1, 1],
                models.video.resnet.BasicStem,
                num_classes=10,
            ),
        }
        for name, make in small.items():
            add(name, make, [inputs(name)])
        sizes = {0: torch.export.Dim("batch", min=2, max=16)}
        for name, make in list(small.items())[:5] + [
            (n, lambda n=n: vision(n)) for n in ("resnet18", "mobilenet_v2")
        ]:
            add(
                name + "_dynamic",
                make,
                [inputs(name, i, b) for i, b in enumerate((2, 3, 1 + 4))],
                shapes=[sizes],
                refused=[inputs(name, 1, 17)],
            )
        for name in VISION:
            add(
                name,
                lambda n=name: vision(n),
                [inputs(name)],
                strict=name in ("squeezenet1_1", "shufflenet_v2_x0_5"),
            )

        def detector(name):
            return models.get_model_builder(name)(weights=None, weights_backbone=None, num_classes=5)

        def segmentation():
            backbone = models.mobilenet_v2(width_mult=0.35).features
            from torchvision.models.segmentation.fcn import FCN, FCNHead
            from torchvision.models._utils import IntermediateLayerGetter

            return FCN(IntermediateLayerGetter(backbone, {"18": "out"}), FCNHead(1280, 4), None)

        add("fcn_small", segmentation, [inputs("fcn")])
        add("fcos_resnet50_fpn", lambda: detector("fcos_resnet50_fpn"), [inputs("fcos")])

        def boxes(self, boxes, scores, x):
            keep = torchvision.ops.nms(boxes, scores, 0.5)
            return keep, torchvision.ops.roi_align(x, [boxes], 3), torchvision.ops.box_iou(boxes, boxes)

        class Boxes(nn.Module):
            forward = boxes

        draw = torch.Generator().manual_seed(1)
        some = torch.rand(6, 4, generator=draw) * 8
        some[:, 2:] += some[:, :2]
        add("boxes", Boxes, [(some, torch.rand(6, generator=draw), torch.rand(1, 2, 16, 16, generator=draw))])
    if timm:
        for name in TIMM:

            def make(name=name):
                return timm.create_model(name, pretrained=False, num_classes=10)

            settings = timm.get_pretrained_cfg(name)
            size = 64 if not getattr(settings, "fixed_input_size", True) else settings.input_size[-1]
            add("timm_" + name, make, [(torch.rand(1, 3, size, size, generator=torch.Generator().manual_seed(1)),)])
    return made
