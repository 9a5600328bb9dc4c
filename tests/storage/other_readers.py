# SPDX-License-Identifier: MIT
"""Others read a file that tlm writes, and tlm reads one that others write. The others are a few lines with struct and json, and
the package safetensors if it is installed.

usage: other_readers.py PROGRAM
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile


def read(path):
    """The tensors of a file by name, each with its dtype, shape and numbers; and the metadata."""
    data = path.read_bytes()
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


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "model.safetensors")
        expected = {}
        for line in run(program, "write", path).stdout.splitlines():
            name, rows, cols, first = line.split()
            rows, cols, first = int(rows), int(cols), float(first)
            expected[name] = "F32", [rows, cols], tuple(first + e / 2 for e in range(rows * cols))
        assert "DB_1.FF.A" in expected and len(expected) > 20, expected
        tensors, metadata = read(path)
        assert tensors == expected, "struct and json read something else"
        assert metadata == {"format": "tlm", "n_heads": "2", "tlm_version": metadata["tlm_version"]}, metadata

        try:
            from safetensors import safe_open
            with safe_open(path, framework="numpy") as file:
                assert file.metadata() == metadata
                assert set(file.keys()) == set(expected)
                for name, (_, shape, entries) in expected.items():
                    tensor = file.get_tensor(name)
                    assert list(tensor.shape) == shape and tuple(tensor.flatten()) == entries, name
            print("the package safetensors reads the same")
        except ImportError:
            print("not compared with the package safetensors, which is not installed")

        # And the other way round: other numbers, in another order, at other places.
        other, number = {}, -1
        for name, (dtype, shape, entries) in sorted(expected.items()):
            other[name] = dtype, shape, [number - e for e in range(len(entries))]
            number -= len(entries)
        write(path, other, {"n_heads": "2"})
        result = run(program, "read", path)
        said = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()}
        assert said == {name: [f"{entries[0]:.1f}", "yes"] for name, (_, _, entries) in other.items()}, result

        # Negative controls: other numbers are seen, and a file that does not fit is refused.
        other["DB_1.FF.A"][2][3] += 1
        write(path, other, {"n_heads": "2"})
        assert "DB_1.FF.A -" in (text := run(program, "read", path).stdout) and text.count(" no\n") == 1, text
        write(path, other, {"n_heads": "4"})
        result = run(program, "read", path)
        assert result.returncode == 1 and 'its "n_heads" is "4", and should be "2"' in result.stderr, result


if __name__ == "__main__":
    main()
