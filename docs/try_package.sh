#!/bin/sh
# The wheel in a bare environment of each Python that is named, with the README and the tutorial typed there; then the
# sdist unpacked, with its own tests, for the first of them. SDIST_TESTS names tests and options; "none" leaves them out.
set -eu
here=$(pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
[ $# -gt 0 ] || set -- python3
for python in "$@"; do
    cd "$here"
    rm -rf "$room/bare" "$room/readme"
    "$python" -m venv "$room/bare"
    "$room/bare/bin/python" -m pip install --quiet --disable-pip-version-check "$(ls "$here"/dist/*.whl)[plot]"
    du -sm "$room"/bare/lib/python*/site-packages | sed 's/\t.*/ MB are installed with the extra [plot]./'
    "$room/bare/bin/python" -m pip install --quiet --disable-pip-version-check causaldata # the table of both
    mkdir "$room/readme" && cd "$room/readme"
    tar -xzf "$here"/dist/*.tar.gz --strip-components=1
    rm -rf src # the wheel is tried, not this
    "$room/bare/bin/python" -W ignore docs/type_tutorial.py
    "$room/bare/bin/python" -m pip install --quiet --disable-pip-version-check pytest
    PATH="$room/bare/bin:$PATH" "$room/bare/bin/python" -m pytest -q -p no:cacheprovider --noconftest -o addopts= -o filterwarnings=default tests/test_readme.py
done
[ "${SDIST_TESTS:-}" != none ] || exit 0
mkdir "$room/sdist" && cd "$room/sdist"
tar -xzf "$here"/dist/*.tar.gz --strip-components=1
"$1" -m venv .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
PATH="$room/sdist/.venv/bin:$PATH" .venv/bin/python -m pytest -q ${SDIST_TESTS:-}
