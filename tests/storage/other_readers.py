# SPDX-License-Identifier: MIT
"""tlm reads a file that others write, and others read the one that tlm writes of it. The others are a few lines with struct and
json, and the package safetensors if it is installed. Names and shapes are those of a file that was kept.

usage: other_readers.py PROGRAM KEPT
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile


def read(path):
    """The tensors of a file by name, each with its dtype, shape and numbers; and the metadata."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, numbers = json.loads(data[8:8 + length]), data[8 + length:]
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = entry["dtype"], entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", numbers[begin:end])
    return tensors, metadata


def write(path, tensors, metadata):
    header, numbers = {"__metadata__": metadata}, b""
    for name, (dtype, shape, entries) in tensors.items():
        packed = struct.pack(f"<{len(entries)}f", *entries)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(numbers), len(numbers) + len(packed)]}
        numbers += packed
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)


def main():
    program, kept = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        theirs, ours = pathlib.Path(directory, "theirs"), pathlib.Path(directory, "ours")
        # Other numbers than those of the file that was kept, in another order, at other places: 0, ½, 1, 1½, …
        expected, number = {}, 0
        for name, (dtype, shape, entries) in sorted(read(kept)[0].items()):
            expected[name] = dtype, shape, tuple((number + e) / 2 for e in range(len(entries)))
            number += len(entries)
        assert "DB_1.FF.A" in expected and len(expected) > 20, expected
        write(theirs, expected, {"n_heads": "2"})
        subprocess.run([program, theirs, ours], check=True)
        tensors, metadata = read(ours)
        assert tensors == expected, "struct and json read something else"
        assert metadata == {"format": "tlm", "n_heads": "2", "tlm_version": metadata["tlm_version"]}, metadata

        try:
            from safetensors import safe_open
            with safe_open(ours, framework="numpy") as file:
                assert file.metadata() == metadata
                assert set(file.keys()) == set(expected)
                for name, (_, shape, entries) in expected.items():
                    tensor = file.get_tensor(name)
                    assert list(tensor.shape) == shape and tuple(tensor.flatten()) == entries, name
            print("the package safetensors reads the same")
        except ImportError:
            print("not compared with the package safetensors, which is not installed")

        # Negative controls: another number is seen, and a file that does not fit is refused.
        write(theirs, expected | {"DB_1.FF.A": ("F32", [8, 16], [0.25] * 128)}, {"n_heads": "2"})
        subprocess.run([program, theirs, ours], check=True)
        assert {name for name, tensor in read(ours)[0].items() if tensor != expected[name]} == {"DB_1.FF.A"}
        write(theirs, expected, {"n_heads": "4"})
        result = subprocess.run([program, theirs, ours], capture_output=True, text=True)
        assert result.returncode == 1 and 'its "n_heads" is "4", and should be "2"' in result.stderr, result


if __name__ == "__main__":
    main()
