# SPDX-License-Identifier: Apache-2.0
"""The transformers and U-Net of models/ beside PyTorch's.

    peers.py BIN [MODEL...]

The second implementation of each (transformers, torchvision, torch.nn; U-Net as
its authors draw it) draws its weights and saves them under the names that it
publishes them by, as .safetensors; BERT's also under its old names, in bf16 and
in several files; ViT's also as transformers has it. mxc compiles the network with that file, and
both get the same inputs, padding included. Prints the largest difference beside
the largest value. Ends with 1 where one is above 1e-4 of it.
Needs torch, transformers, torchvision, safetensors and numpy.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.torch import load_file, save_file

MODELS = os.path.join(os.path.dirname(__file__), "..", "..", "models")
TOLERANCE = 1e-4


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def shaken(module):
    """Weights by which every parameter counts: norms and biases, too."""
    torch.manual_seed(1)
    module.eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    return module


def plain(state):
    return {name: value.detach().clone().contiguous()
            for name, value in state.items()}


def published(module):
    """Under the names of files, which are not those of transformers' modules."""
    with tempfile.TemporaryDirectory() as folder:
        module.save_pretrained(folder)
        return load_file(f"{folder}/model.safetensors")


class Peer:
    """A network, its weights, its inputs by name, and what it should answer."""

    def __init__(self, model, weights, inputs, outputs, valid=None):
        self.model, self.weights = model, plain(weights)
        self.inputs, self.outputs, self.valid = inputs, outputs, valid

    def kept(self, outputs):
        """Without the rows of padding, which mean nothing."""
        if self.valid is None:
            return outputs
        first = outputs[0]
        rows = [first[n, :length] for n, length in enumerate(self.valid)]
        return [numpy.concatenate(rows)] + outputs[1:]


def bert():
    from transformers import BertConfig, BertModel
    module = shaken(BertModel(BertConfig()))
    data = torch.randint(0, 30522, (2, 24))
    types = (torch.arange(24) > 10).long().repeat(2, 1)
    lengths = torch.tensor([24, 17])
    mask = (torch.arange(24) < lengths[:, None]).long()
    with torch.no_grad():
        answer = module(input_ids=data, token_type_ids=types,
                        attention_mask=mask)
    return Peer("bert-base", published(module),
                {"data": data, "token_types": types, "valid_length": lengths},
                [answer.last_hidden_state, answer.pooler_output], [24, 17])


def old_name(name):
    name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
    return "bert." + name.replace("LayerNorm.bias", "LayerNorm.beta")


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    module = shaken(GPT2LMHeadModel(GPT2Config()))
    data = torch.randint(0, 50257, (2, 24))
    with torch.no_grad():
        answer = torch.softmax(module(input_ids=data).logits, -1)
    return Peer("gpt2-small", published(module), {"data": data},
                [answer.reshape(48, 50257)])


def vit():
    from torchvision.models import vit_b_16
    module = shaken(vit_b_16())
    data = torch.randn(2, 3, 224, 224)
    with torch.no_grad():
        answer = torch.softmax(module(data), -1)
    return Peer("vit-b16", module.state_dict(), {"data": data}, [answer])


def vit_of_transformers():
    from transformers import ViTConfig, ViTForImageClassification
    config = ViTConfig(num_labels=1000, layer_norm_eps=1e-6)
    module = shaken(ViTForImageClassification(config))
    data = torch.randn(1, 3, 224, 224)
    with torch.no_grad():
        answer = torch.softmax(module(data).logits, -1)
    return Peer("vit-b16", published(module), {"data": data}, [answer])


def places(length, size):
    """Vaswani et al. 2017, section 3.5."""
    position = numpy.arange(length)[:, None]
    wave = position / 10000 ** (numpy.arange(0, size, 2) / size)
    rows = numpy.empty((length, size))
    rows[:, 0::2], rows[:, 1::2] = numpy.sin(wave), numpy.cos(wave)
    return torch.tensor(rows, dtype=torch.float32)


def transformer():
    layer = dict(d_model=512, nhead=8, dim_feedforward=2048, batch_first=True)
    module = torch.nn.Module()
    module.encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(**layer), 6,
        enable_nested_tensor=False)
    module.decoder = torch.nn.TransformerDecoder(
        torch.nn.TransformerDecoderLayer(**layer), 6)
    module.embed = torch.nn.Embedding(37000, 512)
    torch.nn.init.normal_(module.embed.weight, std=512 ** -0.5)
    shaken(module)
    source = torch.randint(0, 37000, (2, 20))
    target = torch.randint(0, 37000, (2, 12))
    lengths = torch.tensor([20, 9])
    padding = torch.arange(20) >= lengths[:, None]
    future = torch.triu(torch.full((12, 12), True), 1)

    def embedded(tokens):
        return (module.embed(tokens) * 512 ** 0.5 +
                places(tokens.shape[1], 512))

    with torch.no_grad():
        memory = module.encoder(embedded(source), src_key_padding_mask=padding)
        rows = module.decoder(embedded(target), memory, tgt_mask=future,
                              memory_key_padding_mask=padding)
        answer = torch.softmax(rows @ module.embed.weight.T, -1)
    return Peer("transformer-base", module.state_dict(),
                {"data": source, "valid_length": lengths, "target": target},
                [answer.reshape(24, 37000)])


class UNet(torch.nn.Module):
    """Ronneberger, Fischer, Brox 2015, figure 1."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        widths = [1, 64, 128, 256, 512, 1024]
        for level in range(1, 6):
            name = "bottom" if level == 5 else f"down{level}_convs"
            self.add(name, widths[level - 1], widths[level])
        for level in range(4, 0, -1):
            self.add_module(f"up{level}_up", nn.ConvTranspose2d(
                widths[level + 1], widths[level], 2, 2))
            self.add(f"up{level}_convs", widths[level + 1], widths[level])
        self.classes = nn.Conv2d(64, 2, 1)

    def add(self, name, before, after):
        self.add_module(f"{name}_conv1", torch.nn.Conv2d(before, after, 3))
        self.add_module(f"{name}_conv2", torch.nn.Conv2d(after, after, 3))

    def convs(self, name, x):
        for number in (1, 2):
            x = torch.relu(getattr(self, f"{name}_conv{number}")(x))
        return x

    def forward(self, x):
        kept = {}
        for level in range(1, 5):
            kept[level] = self.convs(f"down{level}_convs", x)
            x = torch.max_pool2d(kept[level], 2)
        x = self.convs("bottom", x)
        for level in range(4, 0, -1):
            x = getattr(self, f"up{level}_up")(x)
            border = (kept[level].shape[2] - x.shape[2]) // 2
            middle = slice(border, border + x.shape[2])
            x = torch.cat([kept[level][:, :, middle, middle], x], 1)
            x = self.convs(f"up{level}_convs", x)
        return torch.softmax(self.classes(x), 1)


def unet():
    module = shaken(UNet())
    data = torch.randn(1, 1, 572, 572)
    with torch.no_grad():
        answer = module(data)
    weights = {"_".join(name.rsplit(".", 1)): value
               for name, value in module.state_dict().items()}
    return Peer("u-net", weights, {"data": data}, [answer])


def save_sharded(weights, folder):
    names = sorted(weights)
    halves = [names[0::2], names[1::2]]
    where = {}
    for number, half in enumerate(halves, 1):
        file = f"model-0000{number}-of-00002.safetensors"
        save_file({name: weights[name] for name in half}, f"{folder}/{file}")
        where.update({name: file for name in half})
    path = f"{folder}/model.safetensors.index.json"
    with open(path, "w") as index:
        json.dump({"metadata": {}, "weight_map": where}, index)
    return path


def save_whole(weights, folder):
    path = f"{folder}/model.safetensors"
    save_file(weights, path)
    return path


def answers(mxc, peer, params, folder):
    shapes = []
    given = []
    for name, value in peer.inputs.items():
        shapes += ["--input-shape",
                   f"{name}:{'x'.join(map(str, value.shape))}"]
        path = f"{folder}/{name}.npy"
        numpy.save(path, value.numpy().astype(numpy.float32))
        given += ["--input", f"{name}={path}"]
    run(mxc, "compile", f"{MODELS}/{peer.model}.json", "--params", params,
        *shapes, "-o", f"{folder}/m.mxa")
    run(mxc, "run", f"{folder}/m.mxa", *given, "--output-dir", folder)
    return [numpy.load(f"{folder}/output_{i}.npy")
            for i in range(len(peer.outputs))]


def compare(mxc, what, peer, save=save_whole, tolerance=TOLERANCE):
    with tempfile.TemporaryDirectory() as folder:
        params = save(peer.weights, folder)
        ours = peer.kept(answers(mxc, peer, params, folder))
    theirs = peer.kept([output.numpy() for output in peer.outputs])
    differs = False
    for mine, other in zip(ours, theirs):
        most, scale = abs(mine - other).max(), abs(other).max()
        differs |= bool(most > tolerance * scale)
        print(f"{what:34} {most:.2e} of {scale:.2e}"
              f"{'  DIFFERS' if most > tolerance * scale else ''}", flush=True)
    return differs


def compare_bert(mxc):
    peer = bert()
    differs = compare(mxc, "bert-base", peer, save_sharded)
    peer.weights = {old_name(name): value
                    for name, value in peer.weights.items()}
    peer.weights["cls.predictions.bias"] = torch.zeros(30522)
    differs |= compare(mxc, "bert-base, old names", peer)
    peer.weights = {name: value.bfloat16()
                    for name, value in peer.weights.items()}
    # The peer itself goes on with all 24 bits of its weights.
    return differs | compare(mxc, "bert-base, bf16 (8 bits)", peer,
                             tolerance=0.1)


CHECKS = {
    "bert-base": compare_bert,
    "gpt2-small": lambda mxc: compare(mxc, "gpt2-small", gpt2()),
    "vit-b16": lambda mxc: compare(mxc, "vit-b16", vit()) |
    compare(mxc, "vit-b16 of transformers", vit_of_transformers()),
    "transformer-base":
        lambda mxc: compare(mxc, "transformer-base", transformer()),
    "u-net": lambda mxc: compare(mxc, "u-net", unet()),
}


def main():
    mxc = sys.argv[1] + "/mxc"
    names = sys.argv[2:] or list(CHECKS)
    return int(any([CHECKS[name](mxc) for name in names]))


if __name__ == "__main__":
    sys.exit(main())
