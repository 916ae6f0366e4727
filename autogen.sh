#!/bin/sh
# Makes ./configure from configure.ac. Run it once after a clone; conf/demo and tests/run do.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux m4
exec autoreconf --install --force --warnings=all,no-obsolete
