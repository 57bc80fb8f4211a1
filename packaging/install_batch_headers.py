"""Usage: install_batch_headers.py SOURCE_ROOT INCLUDEDIR

Install cuda_opt/batch.cuh and the headers of lib/ that it includes, directly or through others: users of batch.cuh
compile the algorithm themselves. The latter are installed in cuda_opt/detail, and the include directives get this
prefix, which prevents confusion with the user's own headers of the same names. Meson runs this program during an
installation."""
import os
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
folder = Path(os.environ["MESON_INSTALL_PREFIX"], sys.argv[2], "cuda_opt")
folder = Path(os.environ.get("DESTDIR", "") + str(folder))
installed = set()


def install(header, to):
    def with_prefix(match):
        included = root / "lib" / match[1]
        if not included.is_file():
            return match[0]
        if included not in installed:
            install(included, folder / "detail" / match[1])
        return f'#include "cuda_opt/detail/{match[1]}"'

    installed.add(header)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(re.sub(r'^#include "(.+)"', with_prefix, header.read_text(), flags=re.M))


install(root / "include/cuda_opt/batch.cuh", folder / "batch.cuh")
