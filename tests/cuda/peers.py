#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's times on this machine's GPU, for MEASURED.md: the rate of copies, steps of
training (SGD with momentum, one step as a CUDA graph, and without) and inference.

Channels last, cuDNN's fastest algorithms, data on the device; bf16 by autocast."""
import torch
import torch.nn.functional as F
import torchvision


def milliseconds(function, runs=20):
    for _ in range(3):
        function()
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(runs):
        function()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / runs


def as_graph(function):
    """Records `function` after the runs that cuDNN's choice of algorithms takes."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


def make(name, batch, precision):
    torch.backends.cudnn.benchmark = True
    tf32 = precision != "f32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    network = getattr(torchvision.models, name)().cuda().to(memory_format=torch.channels_last)
    data = torch.rand(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    return network, data


def train(name, batch, precision):
    network, data = make(name, batch, precision)
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
            outputs = network(data)
            loss = F.cross_entropy(getattr(outputs, "logits", outputs), labels)
        loss.backward()
        optimizer.step()

    graph, eager = milliseconds(as_graph(step)), milliseconds(step, 10)
    print(f"{name}:{batch} trains, {precision}: {graph:.2f} ms as a graph, {eager:.2f} without",
          flush=True)


def infer(name, batch):
    network, data = make(name, batch, "bf16")
    network.eval().to(torch.bfloat16)
    data = data.to(torch.bfloat16)
    with torch.no_grad():
        graph = milliseconds(as_graph(lambda: network(data)))
    print(f"{name}:{batch} infers, bf16: {graph:.2f} ms as a graph", flush=True)


print("PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version(),
      torch.cuda.get_device_name())
source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
target = torch.empty_like(source)
copy = milliseconds(lambda: target.copy_(source))
print(f"copies: {2 * source.numel() / copy / 1e6:.0f} GB/s read and written")
del source, target
infer("resnet50", 32)
infer("resnet50", 1)
for case in (("resnet50", 64, "bf16"), ("resnet50", 64, "tf32"), ("vgg16", 64, "bf16"),
             ("mobilenet_v2", 64, "bf16"), ("resnet50", 64, "f32")):
    train(*case)
