#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX models that onnx_peers.py is measured with.

  exported_models.py FOLDER [--batch 1] [--tokens 128] [--only "vit bert_base"]

torchvision's ResNet-50, MobileNet v2 and ViT-B/16, transformers' BERT base, a
MobileNet v1, a U-Net of 256x256 and a YOLO of 640x640, of random weights (seed 7), as PyTorch's
tracing exporter writes them (opset 17). Needs torch, torchvision, transformers.
"""
import argparse
from pathlib import Path

import torch
from torch import nn

OPSET = 17


def convolution(inputs, outputs, size, stride=1, act=nn.SiLU, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, (size - 1) // 2,
                  groups=groups, bias=False),
        nn.BatchNorm2d(outputs), act())


class MobileNetV1(nn.Sequential):
    """Howard and others 2017, of width 1."""

    def __init__(self, classes=1000):
        # Outputs and stride of a depthwise and a pointwise layer.
        pairs = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                 *[(512, 1)] * 5, (1024, 2), (1024, 1)]
        layers, inputs = [convolution(3, 32, 3, 2, nn.ReLU)], 32
        for outputs, stride in pairs:
            layers += [convolution(inputs, inputs, 3, stride, nn.ReLU, inputs),
                       convolution(inputs, outputs, 1, act=nn.ReLU)]
            inputs = outputs
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(inputs, classes))


class UNet(nn.Module):
    """Ronneberger, Fischer and Brox 2015, padded, with batch normalization."""

    def __init__(self, widths=(32, 64, 128, 256, 512), classes=2):
        super().__init__()

        def twice(inputs, outputs):
            return nn.Sequential(convolution(inputs, outputs, 3, act=nn.ReLU),
                                 convolution(outputs, outputs, 3, act=nn.ReLU))
        self.down = nn.ModuleList(
            twice(a, b) for a, b in zip((3, *widths), widths))
        pairs = list(zip(widths[:0:-1], widths[-2::-1]))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairs)
        self.join = nn.ModuleList(twice(2 * b, b) for _, b in pairs)
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else nn.functional.max_pool2d(x, 2))
            kept.append(x)
        for up, join, beside in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([beside, up(x)], 1))
        return self.head(x)


class Bottlenecks(nn.Module):
    """C3 of YOLOv5: half of the channels through residual blocks."""

    def __init__(self, inputs, outputs, count, residual=True):
        super().__init__()
        half = outputs // 2
        self.left = convolution(inputs, half, 1)
        self.right = convolution(inputs, half, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(convolution(half, half, 1), convolution(half, half, 3))
            for _ in range(count))
        self.residual = residual
        self.end = convolution(2 * half, outputs, 1)

    def forward(self, x):
        y = self.left(x)
        for block in self.blocks:
            y = y + block(y) if self.residual else block(y)
        return self.end(torch.cat([y, self.right(x)], 1))


class Yolo(nn.Module):
    """YOLOv5n: backbone, pooling pyramid, top-down and bottom-up paths, heads."""

    def __init__(self, classes=80):
        super().__init__()
        self.stem = convolution(3, 16, 6, 2)
        self.stages = nn.ModuleList(
            nn.Sequential(convolution(a, b, 3, 2), Bottlenecks(b, b, n))
            for a, b, n in [(16, 32, 1), (32, 64, 2), (64, 128, 3), (128, 256, 1)])
        self.pool_in = convolution(256, 128, 1)
        self.pool_out = convolution(512, 256, 1)
        self.narrow5 = convolution(256, 128, 1)
        self.top4 = Bottlenecks(256, 128, 1, residual=False)
        self.narrow4 = convolution(128, 64, 1)
        self.top3 = Bottlenecks(128, 64, 1, residual=False)
        self.down3 = convolution(64, 64, 3, 2)
        self.out4 = Bottlenecks(128, 128, 1, residual=False)
        self.down4 = convolution(128, 128, 3, 2)
        self.out5 = Bottlenecks(256, 256, 1, residual=False)
        self.heads = nn.ModuleList(
            nn.Conv2d(width, 3 * (5 + classes), 1) for width in (64, 128, 256))
        self.classes = classes

    def forward(self, x):
        x = self.stem(x)
        kept = []
        for stage in self.stages:
            x = stage(x)
            kept.append(x)
        pooled = [self.pool_in(x)]
        for _ in range(3):
            pooled.append(nn.functional.max_pool2d(pooled[-1], 5, 1, 2))
        p5 = self.narrow5(self.pool_out(torch.cat(pooled, 1)))
        twice = nn.Upsample(scale_factor=2)
        p4 = self.narrow4(self.top4(torch.cat([twice(p5), kept[2]], 1)))
        p3 = self.top3(torch.cat([twice(p4), kept[1]], 1))
        n4 = self.out4(torch.cat([self.down3(p3), p4], 1))
        n5 = self.out5(torch.cat([self.down4(n4), p5], 1))
        boxes = [
            head(level).view(level.shape[0], 3, 5 + self.classes, -1)
            .permute(0, 1, 3, 2).sigmoid().flatten(1, 2)
            for head, level in zip(self.heads, (p3, n4, n5))]
        return torch.cat(boxes, 1)


def vision(name):
    import torchvision
    return getattr(torchvision.models, name)(weights=None)


class Bert(nn.Module):
    """The last hidden state; the exporter itself cannot name one of many inputs."""

    def __init__(self):
        super().__init__()
        from transformers import BertConfig, BertModel
        self.model = BertModel(BertConfig(attn_implementation="eager"),
                               add_pooling_layer=False)

    def forward(self, input_ids):
        return self.model(input_ids=input_ids).last_hidden_state


# By name: how it is made, and the shape of a sample, or None: tokens.
MODELS = {
    "resnet50": (lambda: vision("resnet50"), (3, 224, 224)),
    "mobilenet_v1": (MobileNetV1, (3, 224, 224)),
    "mobilenet_v2": (lambda: vision("mobilenet_v2"), (3, 224, 224)),
    "vit": (lambda: vision("vit_b_16"), (3, 224, 224)),
    "unet": (UNet, (3, 256, 256)),
    "yolo": (Yolo, (3, 640, 640)),
    "bert_base": (Bert, None),
}


def module(name):
    """One of MODELS, with the weights that its file has."""
    torch.manual_seed(7)
    return MODELS[name][0]().eval()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    torch.backends.mha.set_fastpath_enabled(False)  # no ONNX for it
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only.split() or MODELS:
        shape = MODELS[name][1]
        example = (torch.randn(options.batch, *shape) if shape else
                   torch.randint(0, 30522, (options.batch, options.tokens)))
        path = options.folder / f"{name}.onnx"
        with torch.no_grad():
            torch.onnx.export(module(name), (example,), str(path),
                              opset_version=OPSET, dynamo=False)
        print(path)


if __name__ == "__main__":
    main()
