# SPDX-License-Identifier: MIT
"""Others read the same weights from a file that tlm writes as from one that others wrote, which tlm reads, too (safetensors.cpp).
The others are a few lines with struct and json, and the package safetensors if it is installed.

usage: other_readers.py KEPT KEPT_BY_OTHERS
"""

import json
import pathlib
import struct
import sys


def read(data):
    """The tensors in the bytes of a file by name, each with its dtype, shape and numbers."""
    (length,) = struct.unpack("<Q", data[:8])
    header, numbers = json.loads(data[8:8 + length]), data[8 + length:]
    assert isinstance(header.pop("__metadata__"), dict)
    return {name: (entry["dtype"], entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", numbers[begin:end]))
            for name, entry in header.items() for begin, end in [entry["data_offsets"]]}


def main():
    kept, by_others = (pathlib.Path(path).read_bytes() for path in sys.argv[1:])
    tensors = read(kept)
    assert tensors == read(by_others) and list(tensors) != list(read(by_others)), "struct and json read something else"
    # Negative control: another number is seen.
    assert tensors != read(kept[:-1] + bytes([kept[-1] ^ 1]))
    try:
        from safetensors import safe_open
        for path in sys.argv[1:]:
            with safe_open(path, framework="numpy") as file:
                assert set(file.keys()) == set(tensors)
                for name, (_, shape, numbers) in tensors.items():
                    tensor = file.get_tensor(name)
                    assert list(tensor.shape) == shape and tuple(tensor.flatten()) == numbers, name
        print("the package safetensors reads the same")
    except ImportError:
        print("not compared with the package safetensors, which is not installed")


if __name__ == "__main__":
    main()
