# SPDX-License-Identifier: MIT
"""Packs a module of WebAssembly into a script, which a page may load where it may not read files.

usage: pack.py MODULE.wasm SCRIPT.js
"""

import base64
import gzip
import pathlib
import sys

wasm, script = map(pathlib.Path, sys.argv[1:])
packed = base64.b64encode(gzip.compress(wasm.read_bytes(), 9, mtime=0)).decode()
script.write_text(f'live.packed.{wasm.stem} = "{packed}";\n', encoding="utf-8")
