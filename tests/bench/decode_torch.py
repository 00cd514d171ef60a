# SPDX-License-Identifier: Apache-2.0
"""GPT-2 small of transformers, a token at a time, for decode_peers.py.

f32: layers as nn.Linear. int8: a scale for each output, weights widened as the
product reads them, data in bfloat16, as gpt-fast has it. int4: ATen's product of
4-bit weights with a scale and a least value for each 32 inputs, data in bfloat16,
which is what torchao calls on CPUs. All by torch.compile with max-autotune and
frozen weights, and a StaticCache as long as it needs to be.
"""
import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, StaticCache
from transformers.pytorch_utils import Conv1D

GROUP = 32


class Int8(nn.Module):
    def __init__(self, weight, bias):
        super().__init__()
        scale = weight.abs().amax(1) / 127
        self.register_buffer(
            "weight", torch.round(weight / scale[:, None]).to(torch.int8))
        self.register_buffer("scale", scale.bfloat16())
        self.register_buffer("bias", bias)

    def forward(self, x):
        y = nn.functional.linear(x.bfloat16(), self.weight.bfloat16())
        y = (y * self.scale).float()
        return y if self.bias is None else y + self.bias


class Int4(nn.Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.outputs, inputs = weight.shape
        weight = nn.functional.pad(weight, (0, 0, 0, -self.outputs % 64))
        groups = weight.view(len(weight), -1, GROUP)
        least, most = groups.amin(2), groups.amax(2)
        scale = ((most - least) / 15).clamp(min=1e-9)
        digits = torch.round((groups - least[..., None]) / scale[..., None])
        digits = digits.clamp(0, 15).to(torch.int32).view(-1, inputs)
        self.register_buffer(
            "weight", torch._convert_weight_to_int4pack_for_cpu(digits, 1))
        self.register_buffer("scales", torch.stack(
            [scale, least + 8 * scale], 2).transpose(0, 1).contiguous()
            .bfloat16())
        self.register_buffer("bias", bias)

    def forward(self, x):
        y = torch._weight_int4pack_mm_for_cpu(
            x.view(-1, x.shape[-1]).bfloat16(), self.weight, GROUP, self.scales)
        y = y[:, :self.outputs].float()
        y = y if self.bias is None else y + self.bias
        return y.view(*x.shape[:-1], -1)


def linear(weight, bias):
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None)
    layer.weight = nn.Parameter(weight)
    if bias is not None:
        layer.bias = nn.Parameter(bias)
    return layer


def replace_layers(module, make):
    for name, child in list(module.named_children()):
        if isinstance(child, Conv1D):
            setattr(module, name, make(child.weight.detach().t().contiguous(),
                                       child.bias.detach()))
        elif isinstance(child, nn.Linear):
            setattr(module, name, make(child.weight.detach(), None))
        else:
            replace_layers(child, make)


def network():
    torch.manual_seed(7)
    return GPT2LMHeadModel(GPT2Config(attn_implementation="sdpa")).eval()


def write_truth(folder, tokens):
    """Writes the weights, tokens (one more than `tokens`), keys and values of
    all but the last, and its logarithms of probabilities; returns the weights."""
    net = network()
    weights = {name: value.clone() for name, value in net.state_dict().items()
               if name != "lm_head.weight"}
    for name, value in weights.items():
        if value.ndim == 1:  # drawn as zeros and ones
            value += 0.1 * torch.randn_like(value)
    net.load_state_dict(weights, strict=False)
    save_file(weights, f"{folder}/gpt2.safetensors")
    ids = torch.randint(0, 50257, (1, tokens + 1))
    with torch.inference_mode():
        before = net(input_ids=ids[:, :-1], use_cache=True).cache
        past = {f"{name}{i}": getattr(layer, f"{name}s").numpy().copy()
                for i, layer in enumerate(before.layers)
                for name in ("key", "value")}
        logits = net(input_ids=ids, use_cache=False).logits[0, -1]
    np.savez(f"{folder}/past.npz", **past)
    np.save(f"{folder}/tokens.npy", ids[0].numpy())
    np.save(f"{folder}/truth.npy", logits.double().log_softmax(0).numpy())
    return {name: value.numpy() for name, value in weights.items()}


def stream(kind, folder, threads):
    torch.set_num_threads(threads)
    import torch._inductor.config as inductor
    inductor.freezing = True
    net = network()
    net.load_state_dict(load_file(f"{folder}/gpt2.safetensors"), strict=False)
    ids = torch.from_numpy(np.load(f"{folder}/tokens.npy"))[None]
    before = ids.shape[1] - 1
    cache = StaticCache(config=net.config, max_cache_len=before + 8)
    with torch.inference_mode():
        net(input_ids=ids[:, :-1], cache=cache)
    replace_layers(net, {"f32": linear, "int8": Int8, "int4": Int4}[kind])

    @torch.compile(dynamic=False, mode="max-autotune")
    def step(token, position):
        for layer in cache.layers:  # the same token again
            layer.cumulative_length.fill_(before)
        return net(input_ids=token, position_ids=position, cache=cache).logits

    position = torch.tensor([[before]])

    def run():
        with torch.no_grad():
            return step(ids[:, -1:], position)

    run()
    return run, lambda: run()[0, -1].numpy()
