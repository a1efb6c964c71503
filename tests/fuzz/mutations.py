"""How input is spoiled: text, JSON, checkpoints, bytes. Everything is drawn from a ``random.Random``."""

import argparse
import io
import json
import re

STRINGS = [
    "",
    " ",
    "<sep>",
    "<mask>",
    "</s>",
    "<pad>",
    "\u2028",
    "\u00e9" * 5,
    "x" * 3000,
    "a\tb",
    "\0",
    "0",
    "..",
    "\r",
]
# JSON that stands for itself, in place of a value
RAW = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1",
    "0",
    "2",
    "1.5",
    "9" * 400,
    "9" * 5000,
    "null",
    "true",
    "[]",
    "{}",
]
RAW += [
    '"\\ud800"',
    '"\\u0000"',
    "[" * 200 + "]" * 200,
    "[" * 3000,
    '{"a":' * 80 + "1" + "}" * 80,
    "9223372036854775807",
]
BYTES = [
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\0",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\n\n",
    b"\xe2\x80\xa8",
    b" ",
    b"\x1b",
    b"1",
]


_BINARY = (".bin", ".idx", ".pt", ".index", ".ends", ".zip", ".gz", ".model", ".safetensors")


def spoil(rng, name, content):
    """Other content for a file; None for no file."""
    if rng.random() < 0.04:
        return None
    if name.endswith(".pt") and rng.random() < 0.8:
        return spoil_checkpoint(rng, content)
    kind = re.search(r"\.json|\.partial|meta", name)
    if kind and rng.random() < 0.75:
        return spoil_json(rng, content)
    if name.endswith(_BINARY) or rng.random() < 0.2:
        return spoil_bytes(rng, content)
    return spoil_lines(rng, content)


def spoil_bytes(rng, content):
    """Truncated, lengthened, changed at some places, or something else altogether."""
    kind = rng.randrange(6)
    if kind == 0:
        return content[: rng.randrange(len(content) + 1)]
    if kind == 1:
        return content + rng.randbytes(rng.choice([1, 7, 64]))
    if kind == 2:
        return rng.choice([b"", b"\0" * 64, rng.randbytes(200), b"PK\x03\x04", b"[" * 100_000])
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(changed) + 1)
        if kind == 3 and changed:
            changed[at % len(changed)] ^= 1 << rng.randrange(8)
        elif kind == 4:
            changed[at:at] = rng.choice(BYTES)
        else:
            del changed[at : at + rng.choice([1, 4, 30])]
    return bytes(changed)


def spoil_lines(rng, content):
    """Lines dropped, doubled, swapped, changed."""
    lines = content.split(b"\n")
    for _ in range(rng.choice([1, 1, 1, 3])):
        at = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[at])
        elif kind == 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            lines[at] = b""
        elif kind == 4:
            lines[at] = (lines[at] * 400)[: 1 << 22]  # three times in a row it is 64 million lines
        else:
            where = rng.randrange(len(lines[at]) + 1)
            new = rng.choice([rng.choice(STRINGS).encode(), rng.choice(BYTES)])
            lines[at] = lines[at][:where] + new + lines[at][where:]
    return b"\n".join(lines)


def spoil_json(rng, content):
    """One value, or one line's, replaced, removed, renamed or added to; the rest stays JSON."""
    lines = [content]
    try:
        json.loads(content)
    except ValueError:
        lines = content.splitlines()
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return spoil_bytes(rng, content)
    marks = {}
    lines[at] = json.dumps(_spoil_value(rng, value, marks), ensure_ascii=rng.random() < 0.5).encode()
    for mark, raw in marks.items():
        lines[at] = lines[at].replace(f'"{mark}"'.encode(), raw.encode())
    return b"\n".join(lines) + b"\n" * (len(lines) > 1)


def _spoil_value(rng, value, marks):
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.12:
        return _other(rng, value, marks)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = rng.choice(keys)
    if rng.random() < 0.25:
        kind = rng.randrange(3)
        if kind == 0:
            del value[key]
        elif isinstance(value, dict):
            value[rng.choice([*STRINGS, "new", str(key).upper()])] = (
                value[key] if kind == 1 else value.pop(key)
            )
        else:
            value.insert(key, value[key] if kind == 1 else [])
        return value
    value[key] = _spoil_value(rng, value[key], marks)
    return value


def _other(rng, value, marks):
    kind = rng.randrange(4)
    if kind == 0:
        return [value]
    if kind == 1 and isinstance(value, (int, float)):
        return rng.choice([-value, value + 1, value * 1000, str(value), value / 2])
    if kind == 2:
        return (
            rng.choice(STRINGS)
            if rng.random() < 0.5 or not isinstance(value, str)
            else value + rng.choice(STRINGS)
        )
    mark = f"@raw{len(marks)}@"
    marks[mark] = rng.choice(RAW)
    return mark


PAYLOAD = "__import__('os').system('touch owned')"


def spoil_checkpoint(rng, content):
    """One entry, however deep, replaced or removed."""
    import torch

    try:
        state = torch.load(io.BytesIO(content), weights_only=True)
    except Exception:
        return spoil_bytes(rng, content)
    if rng.random() < 0.2:
        _spoil_dimension(rng, vars(state["cfg"]["model"]))
    else:
        _spoil_entry(rng, state)
    stream = io.BytesIO()
    torch.save(state, stream)
    return stream.getvalue()


def _spoil_dimension(rng, options):
    """A model of another size than its parameters."""
    name = rng.choice(sorted(name for name, value in options.items() if type(value) is int))
    options[name] = rng.choice([0, -1, 1, 3, 10**6, 10**7, 2**31, 2**62])


def _spoil_entry(rng, state):
    import torch

    entries = (
        vars(state) if hasattr(state, "__dict__") and not isinstance(state, (dict, torch.Tensor)) else state
    )
    key = rng.choice(sorted(entries, key=str) if isinstance(entries, dict) else range(len(entries)))
    value = entries[key]
    inner = isinstance(value, (dict, list)) and value or isinstance(value, argparse.Namespace)
    if inner and rng.random() < 0.93:
        return _spoil_entry(rng, value)
    kind = rng.randrange(8)
    if kind == 0 and isinstance(entries, dict):
        del entries[key]
    elif kind == 1:
        entries[key] = PAYLOAD
    elif isinstance(value, torch.Tensor):
        entries[key] = rng.choice(
            [
                value[..., :-1],
                value.double() * float("nan"),
                value.int(),
                torch.zeros(3),
                value.unsqueeze(0),
                value.half(),
            ]
        )
    else:
        others = [
            None,
            "",
            PAYLOAD,
            -1,
            0,
            3,
            2**40,
            1.5,
            float("nan"),
            [],
            {},
            True,
            [1],
            "fconv",
            torch.zeros(2),
        ]
        entries[key] = rng.choice(others)
