# SPDX-License-Identifier: MIT
"""The same models in PyTorch. First it verifies that scores, gradients and generated tokens are the same, with weights that are
exchanged as safetensors. Then it times both alternately, with the same BLAS. The products that a step of training needs are
timed alone, too. Those of attention count only as far as the mask leaves them visible.

Gradients are compared in double. In float both sides are right and still differ: among millions of numbers that meet a ReLU a few
are so near 0 that one side rounds them below it and the other above.

usage: compare.py PROGRAM, which prints two tables: the times, and the differences
"""

import ctypes
import json
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ModuleNotFoundError:
    print("skipped: Python has no torch; on Debian: apt-get install python3-torch", file=sys.stderr)
    sys.exit(77)

START = 0
EPSILON = 1e-6  # of the article's normalization
MODELS = {  # heads, and how often each action is repeated in a round
    "example_0": ("Example 0, 4×6 tokens", 2, {"SGD": 20, "Adam": 20, "scores": 40, "a text": 20, "16 texts": 10}),
    "wide_4x128": ("512/2048/6/8, 4×128 tokens", 8, {"SGD": 1, "Adam": 1, "scores": 2, "a text": 1, "16 texts": 1}),
    "saying": ("128/512/2/2, 1×1024 tokens", 2, {"a text": 1, "16 texts": 1}),
    "wide_1x1024": ("512/2048/6/8, 1×1024 tokens", 8, {"SGD": 1, "Adam": 1, "scores": 1}),
}
STEPS = ["SGD", "Adam"]  # what is a step of training
ROUNDS = 5
TOLERANCE = 1e-4
PAUSE = 0.1  # seconds, until PyTorch's threads sleep and no longer wait actively


def read(path):
    """The tensors of a safetensors file, by name."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    types = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
    return {
        name: torch.frombuffer(data, dtype=types[entry["dtype"]], offset=8 + length + entry["data_offsets"][0],
                               count=torch.Size(entry["shape"]).numel()).reshape(entry["shape"])
        for name, entry in header.items() if name != "__metadata__"
    }


class Normalization(nn.Module):
    """a·(x − x̄)/(σ + ε) + b."""

    def __init__(self, d_model):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        deviation, mean = torch.std_mean(x, -1, unbiased=False, keepdim=True)
        return torch.addcmul(self.b, self.a, (x - mean) / (deviation + EPSILON))


class LayerNorm(Normalization):
    """What PyTorch has in one piece, with ε² under the root: the same but for rows that are nearly constant."""

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.a, self.b, EPSILON**2)


class CausalAttention(nn.Module):
    """All heads at once, Q, K and V in one product."""

    def __init__(self, d_model, heads, length):
        super().__init__()
        self.heads, self.scale = heads, (d_model // heads)**-0.5
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model, bias=False), nn.Linear(d_model, d_model)
        self.register_buffer("hidden", torch.ones(length, length, dtype=torch.bool).triu(1))

    def forward(self, x, cache=None, begin=0):
        batch, n, d_model = x.shape
        q, k, v = self.qkv(x).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if cache is not None:
            cache[:, :, :, begin:begin + n] = torch.stack((k, v))
            k, v = cache[:, :, :, :begin + n]
        scores = (q * self.scale) @ k.transpose(-2, -1)
        if n > 1:
            scores = scores.masked_fill(self.hidden[:n, :n], -torch.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, n, d_model))


class DecoderBlock(nn.Module):
    """X + CA(N_ca(X)) + FF(X + CA(N_ca(X)))."""

    def __init__(self, norm, d_model, d_ff, heads, length):
        super().__init__()
        self.n_ca, self.n_ff = norm(d_model), norm(d_model)
        self.attention = CausalAttention(d_model, heads, length)
        self.a, self.b = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x, cache=None, begin=0):
        x = x + self.attention(self.n_ca(x), cache, begin)
        return x + self.b(F.relu(self.a(self.n_ff(x))))


class TransformerLM(nn.Module):
    """The article's model, with the shapes of these weights."""

    def __init__(self, weights, heads, length, norm):
        super().__init__()
        vocab_size, d_model = weights["Em.W_e"].shape
        d_ff = weights["DB_1.FF.A"].shape[1]
        layers = sum(name.endswith(".FF.A") for name in weights)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.empty_like(weights["PE.PE"]))
        self.blocks = nn.ModuleList(DecoderBlock(norm, d_model, d_ff, heads, length) for _ in range(layers))
        self.norm, self.final = norm(d_model), nn.Linear(d_model, vocab_size)
        self.to(weights["Em.W_e"].dtype)
        with torch.no_grad():
            for name, part in self.by_name(lambda parameter: parameter).items():
                part.copy_(weights[name])

    def forward(self, tokens, caches=None, begin=0):
        x = self.embedding(tokens) + self.positions[begin:begin + tokens.shape[1]]
        for k, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[k], begin)
        return self.final(self.norm(x))

    def by_name(self, of):
        """of(parameter) by the library's names, in its shapes: Y = X×W, where PyTorch keeps Wᵀ."""

        def normalization(name, norm):
            return {f"{name}.a": of(norm.a)[None], f"{name}.b": of(norm.b)[None]}

        parts = {"Em.W_e": of(self.embedding.weight), "PE.PE": of(self.positions), **normalization("N", self.norm),
                 "Φ.Y": of(self.final.weight).T, "Φ.B": of(self.final.bias)[None]}
        for k, block in enumerate(self.blocks, 1):
            q, key, v = of(block.attention.qkv.weight).chunk(3)
            parts |= normalization(f"DB_{k}.N_ca", block.n_ca) | normalization(f"DB_{k}.FF.N_ff", block.n_ff) | {
                f"DB_{k}.CA.W_Q": q.T, f"DB_{k}.CA.W_K": key.T, f"DB_{k}.CA.W_V": v.T,
                f"DB_{k}.CA.W_O": of(block.attention.out.weight).T, f"DB_{k}.CA.B": of(block.attention.out.bias)[None],
                f"DB_{k}.FF.A": of(block.a.weight).T, f"DB_{k}.FF.K": of(block.a.bias)[None],
                f"DB_{k}.FF.B": of(block.b.weight).T, f"DB_{k}.FF.L": of(block.b.bias)[None]}
        return parts

    @torch.inference_mode()
    def say(self, count, length):
        """The scores of the first of so many texts, which are said with keys and values remembered."""
        attention, d_model = self.blocks[0].attention, self.positions.shape[1]
        caches = torch.empty(len(self.blocks), 2, count, attention.heads, length, d_model // attention.heads,
                             dtype=self.positions.dtype)
        tokens, scores = torch.full((count, 1), START), []
        for begin in range(length):
            y = self(tokens, caches, begin)
            tokens = y[:, -1:].argmax(-1)
            scores.append(y[0, -1])
        return torch.stack(scores)


class Torch:
    """A model of PyTorch, and what is done with it."""

    def __init__(self, weights, tokens, heads, norm):
        self.tokens, self.read = tokens, F.pad(tokens[:, :-1], (1, 0), value=START)
        self.model = TransformerLM(weights, heads, tokens.shape[1], norm)
        self.optimizers = {"SGD": torch.optim.SGD(self.model.parameters(), lr=1e-6),
                           "Adam": torch.optim.Adam(self.model.parameters(), lr=1e-6)}

    def gradient(self):
        self.model.zero_grad(set_to_none=True)
        F.cross_entropy(self.model(self.read).flatten(0, 1), self.tokens.flatten()).backward()
        return self.model.by_name(lambda parameter: parameter.grad)

    @torch.inference_mode()
    def scores(self):
        return self.model(self.read).flatten(0, 1)

    def do(self, action):
        if action in self.optimizers:
            self.gradient()
            self.optimizers[action].step()
        elif action == "scores":
            self.scores()
        else:
            self.model.say({"a text": 1, "16 texts": 16}[action], self.tokens.shape[1])

    def milliseconds(self, action, times, threads):
        torch.set_num_threads(threads)
        blas.openblas_set_num_threads(threads)
        start = time.perf_counter()
        for _ in range(times):
            self.do(action)
        return 1e3 * (time.perf_counter() - start) / times


class Tlm:
    """The library's program."""

    def __init__(self, program, model, directory):
        self.process = subprocess.Popen([program, model, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended with {self.process.wait()}")
        return line

    def milliseconds(self, action, times, threads):
        print(times, threads, action, file=self.process.stdin, flush=True)
        return float(self.answer())


def compare(directory, tokens, heads, norm):
    """A model of PyTorch by the weights in a directory. By how much it differs from what the library made of them, relative to
    the largest entry."""
    ours = {name: read(directory / f"{name}.safetensors") for name in ("weights", "scores", "gradient", "said")}
    model = Torch(ours["weights"], tokens, heads, norm)
    theirs = {"scores": {"X": model.scores()}, "gradient": model.gradient(), "said": {"X": model.model.say(1, tokens.shape[1])}}
    assert ours["gradient"].keys() == theirs["gradient"].keys(), ours["gradient"].keys() ^ theirs["gradient"].keys()
    return model, {what: max(float((ours[what][name] - theirs[what][name]).abs().max() / ours[what][name].abs().max())
                             for name in theirs[what]) for what in theirs}


def contestants(checks, program, model, directory):
    """The library's program and PyTorch with both normalizations, after all of them have computed the same."""
    name, heads, _ = MODELS[model]
    those = [Tlm(program, model, directory)]
    tokens = read(directory / "tokens.safetensors")["X"]
    for norm in Normalization, LayerNorm:
        _, exact = compare(directory / "double", tokens, heads, norm)
        torch_model, rounded = compare(directory / "float", tokens, heads, norm)
        those.append(torch_model)
        checks.append([name, norm.__name__, *(f"{number:.0e}" for number in (*exact.values(), *rounded.values()))])
        required = {**exact, "scores in float": rounded["scores"], "said in float": rounded["said"]}
        if norm is LayerNorm:  # which is a little off, so that some numbers are on the other side of a ReLU, in double, too
            del required["gradient"]
        for what, found in required.items():
            if not found <= TOLERANCE:
                sys.exit(f"{name}: {what} differ by {found:.1e} of the largest entry")
    return those


def main():
    checks = [["model", "PyTorch's norm", "scores, double", "gradients, double", "text, double", "scores, float",
               "gradients, float", "text, float"]]
    print("model", "action", "threads", "tlm ms", "PyTorch ms", "PyTorch ÷ tlm", "layer_norm ms", "layer_norm ÷ tlm",
          "products ms", "PyTorch ÷ products", sep="\t", flush=True)
    for model, (name, _, actions) in MODELS.items():
        with tempfile.TemporaryDirectory() as place:
            those = contestants(checks, sys.argv[1], model, pathlib.Path(place))
        for action, times in actions.items():
            for threads in 1, 2:
                turns = [(one, action) for one in those] + ([(those[0], "products")] if action in STEPS else [])
                rounds = []
                for _ in range(ROUNDS + 1):  # the first one warms up
                    rounds.append([])
                    for contestant, what in turns:
                        time.sleep(PAUSE)
                        rounds[-1].append(contestant.milliseconds(what, times, threads))
                ours, theirs, fused, *products = (statistics.median(column) for column in zip(*rounds[1:]))
                least = [f"{products[0]:.3f}", f"{theirs / products[0]:.2f}"] if products else ["", ""]
                print(name, action, threads, f"{ours:.3f}", f"{theirs:.3f}", f"{theirs / ours:.2f}", f"{fused:.3f}",
                      f"{fused / ours:.2f}", *least, sep="\t", flush=True)
        those[0].process.communicate()  # closes its input, which ends it
    print()
    for row in checks:
        print(*row, sep="\t")


blas = ctypes.CDLL("libopenblas.so.0")
if __name__ == "__main__":
    main()
