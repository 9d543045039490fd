#!/bin/sh
# The long explorations of the model checker.
set -eu
exec "$(dirname "$0")/loom.sh" long
