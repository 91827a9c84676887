"""How training scales: measured here with 1 and 2 processes, computed for 8, 64 and 512 GPUs.

    python benchmarks/scaling.py measure [--updates N]
    python benchmarks/scaling.py compute [--utilisation SHARE]

`measure` trains the tiny preset on the embedded corpus through `torchrun` and gloo, each process on
one thread, and reads the journal: target tokens per second after the first updates, and CPU
seconds.

`compute` uses formulas. With P parameters and n GPUs, the bytes that each GPU sends in an update:

    DDP    ring all-reduce of fp32 gradients              2 (n - 1) / n * 4 P
    FSDP2  blocks: gathered in bf16 for the forward and
           the backward pass, gradients cut up in fp32    (n - 1) / n * (2 + 2 + 4) P_blocks
           the rest, in fp32: gathered once               (n - 1) / n * (4 + 4) P_rest

So both send 8 P (n - 1) / n: DDP for a whole update, FSDP2 for each micro-batch, in more messages.
A ring of n takes n - 1 steps to
gather or to sum up, and each step has a latency. Computing takes 6 P floating-point operations per
target token. Communication overlaps with the backward pass, so scaling stops where it takes as long
as computing.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tomli_w
import torch

from dragoman.corpora.primer.corpus import generate
from dragoman.model.config import PRESETS, TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.training.journal import read_journal

VOCAB_SIZE = 32_000
GPU_FLOPS = 989e12  # of an H100 SXM in bf16, dense, by its data sheet
GPUS = (8, 64, 512)
NETWORKS = {  # sustained bytes per second that each GPU sends; 80 % of the nominal rate
    "NVLink in a node of 8": 0.8 * 450e9,
    "8 x 400 Gbit/s a node": 0.8 * 8 * 50e9,
    "1 x 400 Gbit/s a node": 0.8 * 50e9,
}
LATENCY = 2e-6  # seconds for each step of a ring; most steps stay in a node
LARGEST_UPDATE = 400_000  # target tokens; Ott et al. 2018 trained well with about as many
TOKENS_PER_GPU = 4096  # a micro-batch
PAIRS = 4000


@dataclass(frozen=True)
class Messages:
    """What the processes of a training have to send one another."""

    parameters: int
    collectives: int
    """Gathers and sums of a micro-batch under FSDP2: three for each block, two for the rest and
    three for the norms."""

    @classmethod
    def of(cls, preset: str) -> "Messages":
        """Count those of a preset."""
        with torch.device("meta"):
            model = Transformer(
                TransformerConfig(**PRESETS[preset]),  # type: ignore[arg-type]
                source_vocab_size=VOCAB_SIZE,
                target_vocab_size=VOCAB_SIZE,
                padding_id=0,
            )
        blocks = len(model.encoder.blocks) + len(model.decoder.blocks)
        return cls(sum(p.numel() for p in model.parameters()), 3 * blocks + 5)

    def sent(self, gpus: int) -> float:
        """Bytes that each GPU sends: for an update with DDP, for a micro-batch with FSDP2."""
        return 8 * self.parameters * (gpus - 1) / gpus


def compute(utilisation: float) -> None:
    """Print the computed tables."""
    flops = utilisation * GPU_FLOPS
    print(f"computing at {utilisation:.0%} of {GPU_FLOPS / 1e12:.0f} TFLOP/s\n")
    print(
        "| preset | parameters | GPUs | MB sent | network | computing, ms | DDP, ms | FSDP2, ms "
        "| tokens a GPU below which DDP waits |\n|" + "---|" * 9
    )
    for preset in ("tiny", "base", "big"):
        messages = Messages.of(preset)
        per_token = 6 * messages.parameters / flops
        for gpus in GPUS:
            sent, steps = messages.sent(gpus), (gpus - 1) * LATENCY
            for network, rate in NETWORKS.items():
                if (gpus == GPUS[0]) != network.startswith("NVLink"):
                    continue
                ddp = sent / rate + 2 * steps
                fsdp = sent / rate + messages.collectives * steps
                print(
                    f"| {preset} | {messages.parameters / 1e6:.1f} M | {gpus} | {sent / 1e6:.0f} "
                    f"| {network} | {1e3 * per_token * TOKENS_PER_GPU:.2f} | {1e3 * ddp:.2f} "
                    f"| {1e3 * fsdp:.2f} | {ddp / per_token:,.0f} |"
                )
    print(f"\nGPUs that an update of {LARGEST_UPDATE:,} target tokens keeps busy with DDP:")
    for network, rate in NETWORKS.items():
        tokens = 8 * flops / (6 * rate)  # 8 P / rate = 6 P tokens / flops; P falls out
        print(f"- {network}: {tokens:,.0f} tokens a GPU, {LARGEST_UPDATE / tokens:,.0f} GPUs")


def measure(updates: int) -> None:
    """Train with one process and with two, and print what each achieved."""
    print("| processes | target tokens/s | CPU s of all | loss at the end |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        text = directory / "text.tsv"
        pairs = generate(PAIRS, seed=1)
        text.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
        (directory / "recipe.toml").write_text(_recipe(text, updates))
        for processes in (1, 2):
            before = _cpu_seconds()
            run = _train(directory, processes)
            events = read_journal(run / "journal.jsonl")
            warm = [e for e in events if e["event"] == "update"][updates // 4 :]
            tokens = warm[-1]["tokens"] - warm[0]["tokens"]
            speed = tokens / (warm[-1]["time"] - warm[0]["time"])
            used = _cpu_seconds() - before
            print(f"| {processes} | {speed:,.0f} | {used:.0f} | {warm[-1]['loss']:.4f} |")


def _recipe(text: Path, updates: int) -> str:
    return tomli_w.dumps(
        {
            "source_language": "en",
            "target_language": "it",
            "corpora": {"train": [{"path": str(text)}]},
            "tokenizer": {"vocab_size": 2000},
            "batching": {"tokens_per_update": 4096},
            "model": {"preset": "tiny", "dropout": 0.0},
            "training": {
                "updates": updates,
                "validate_every": updates,
                "warmup_updates": 10,
                "search_every": 2,
            },
        }
    )


def _train(directory: Path, processes: int) -> Path:
    run = directory / f"run-{processes}"
    launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command = ["-m", "dragoman", "train", str(directory / "recipe.toml"), "-o", str(run)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, *launch, *command], env=environment, check=True, capture_output=True
    )
    return run


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, or compute."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["measure", "compute"])
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--utilisation", type=float, default=0.3)
    options = parser.parse_args()
    if options.what == "measure":
        measure(options.updates)
    else:
        compute(options.utilisation)


if __name__ == "__main__":
    main()
