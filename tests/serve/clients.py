"""What OpenAI's clients ask of the server, all on the loopback address, and what its processes then hold of the machine."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import re
import socket
import subprocess
import time
from pathlib import Path

from judging import TOKENS
from models import WORDS, Task

ADDRESS = "127.0.0.1"
MODEL = "tiny"
CLIENTS = 8  # of the long run
WARM_UP = 60  # requests that come before its memory counts
LONGEST = (200, 40)  # words of a prompt, and of an answer
KNOWN = 10  # one request of that many has a continuation that is known
SHARED = "/dev/shm/"


@dataclasses.dataclass
class Asked:
    """A request: its words are known, or only their number."""

    prompt: list[int]
    count: int
    expected: list[int] | None = None
    streamed: bool = False


def free_port() -> int:
    with socket.socket() as one:
        one.bind((ADDRESS, 0))
        return int(one.getsockname()[1])


async def wait_for(port: int, process: subprocess.Popen[str], seconds: float) -> str:
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if process.poll() is not None:
            return f"the process ended ({process.returncode})"
        try:
            _, writer = await asyncio.open_connection(ADDRESS, port)
            writer.close()
            return ""
        except OSError:
            await asyncio.sleep(1)
    return f"no answer after {seconds:.0f} s"


def drawn(count: int, tasks: list[Task], seed: int) -> list[Asked]:
    """Requests of random lengths, greedy or not; the tasks are among them, and a third of the answers come in parts."""
    generator = random.Random(seed)
    requests = []
    for i in range(count):
        if i % KNOWN == 0:
            prompt, expected = tasks[i // KNOWN % len(tasks)]
            requests.append(Asked(prompt, len(expected), expected, streamed=i % 3 == 1))
        else:
            words, answer = (generator.randint(1, longest) for longest in LONGEST)
            requests.append(Asked(generator.choices(range(WORDS), k=words), answer, streamed=i % 3 == 1))
    return requests


async def ask(port: int, requests: list[Asked], clients: int, seconds: float) -> str:
    """Sends the requests by that many clients, each one after the other; returns what is wrong with the first bad answer."""
    import openai

    left = list(reversed(requests))
    wrong: list[str] = []

    async def one() -> None:
        async with openai.AsyncOpenAI(base_url=f"http://{ADDRESS}:{port}/v1", api_key="none", timeout=seconds, max_retries=0) as client:
            while left and not wrong:
                if found := await _answer_to(client, left.pop()):
                    wrong.append(found)

    await asyncio.gather(*(one() for _ in range(clients)))
    return wrong[0] if wrong else ""


async def _answer_to(client, asked: Asked) -> str:  # type: ignore[no-untyped-def]
    """What is wrong with the answer; a known one has greedy words, any other one has as many as were asked for."""
    common = {"model": MODEL, "prompt": asked.prompt, "max_tokens": asked.count, "temperature": 1 if asked.expected is None else 0}
    common["extra_body"] = {"ignore_eos": True}
    if asked.streamed:
        text, usage = "", None
        stream = await client.completions.create(**common, stream=True, stream_options={"include_usage": True})
        async for part in stream:
            text += "".join(choice.text for choice in part.choices)
            usage = part.usage or usage
    else:
        answer = await client.completions.create(**common)
        text, usage = answer.choices[0].text, answer.usage
    words = re.findall(r"w\d+", text)
    if (usage.prompt_tokens, usage.completion_tokens) != (len(asked.prompt), asked.count):
        return f"{usage.prompt_tokens} and {usage.completion_tokens} tokens were counted, not {len(asked.prompt)} and {asked.count}"
    if asked.expected is None:
        return "" if len(words) == asked.count else f"{len(words)} words instead of {asked.count}"
    right = [f"w{token}" for token in asked.expected]
    return "" if words == right else f"{' '.join(words)} instead of {' '.join(right)}"


def at_once(tasks: list[Task]) -> list[Asked]:
    return [Asked(prompt, TOKENS, expected) for prompt, expected in tasks]


def processes_of(session: int) -> list[Path]:
    """Those of a session that run, as folders of /proc."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
        except OSError:
            continue
        if fields[3] == str(session) and fields[0] not in "ZX":
            found.append(place)
    return found


def memory_of(session: int) -> list[float]:
    """MiB that each of its processes holds, without pages of files: its share of those grows as other programs that map them end."""
    held = []
    for place in sorted(processes_of(session)):
        try:
            text = (place / "smaps_rollup").read_text(encoding="utf-8")
        except OSError:
            continue
        held.append(sum(int(kib) for kib in re.findall(r"^Pss_(?:Anon|Shmem): +(\d+) kB", text, re.MULTILINE)) / 1024)
    return held


def shared_by(session: int) -> set[str]:
    """Files of shared memory that its processes have mapped."""
    found: set[str] = set()
    for place in processes_of(session):
        try:
            lines = (place / "maps").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        names = {line[line.index(SHARED) :] for line in lines if SHARED in line}
        found |= {name for name in names if not name.endswith(" (deleted)")}
    return found


def is_table(name: str) -> bool:
    """Whether a file is a table in which portacl accounts a device's memory."""
    return re.fullmatch(rf"{SHARED}portacl\.{os.geteuid()}\.\d+\.device\d+", name) is not None
