#!/bin/sh
# Writes link/hook-order.txt: the functions that `notesoup hook` runs through when nothing is to be answered. The build
# puts them side by side, so that the start of the program touches few pages of a large file.
#   CARGO_PROFILE_RELEASE_STRIP=none cargo build --release && benches/hook-order.sh REQUEST
# REQUEST is a file with such an event, see benches/hook.sh. Needs valgrind, binutils and Node.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The second run is the usual one: the first keeps the merged config.
target/release/notesoup hook <"$1" >/dev/null
valgrind --tool=callgrind --demangle=no --callgrind-out-file="$work/calls" target/release/notesoup hook <"$1" >/dev/null 2>&1
nm -S target/release/notesoup >"$work/symbols"
node - "$work" >link/hook-order.txt <<'JS'
const { readFileSync } = require('node:fs')
const read = name => readFileSync(`${process.argv[2]}/${name}`, 'utf8')
// The hash at the end differs from build to build, and all instances of a generic function are meant.
const pattern = name => name.replace(/17h[0-9a-f]{16}E.*$/, '17h*').replace(/\.llvm\.\d+$/, '*')
const sizes = new Map()
for (const [, size, name] of read('symbols').matchAll(/^\S+ (\S+) [tT] (\S+)$/gm)) sizes.set(pattern(name), (sizes.get(pattern(name)) ?? 0) + parseInt(size, 16))
// Every run function with the pattern that it is found by: of a generic one, several instances may be.
const run = new Set([...read('calls').matchAll(/^c?fn=\(\d+\) (\S+?)(?:'\d+)?$/gm)].map(match => match[1]).filter(name => /^_[ZR]/.test(name)))
const instances = new Map()
for (const name of run) instances.set(pattern(name), (instances.get(pattern(name)) ?? 0) + 1)
// A generic function with instances all over the program would bring too many bytes along.
const small = [...instances].filter(([name, count]) => (sizes.get(name) ?? Infinity) / count <= 24_000).map(([name]) => name)
console.log('# Written by benches/hook-order.sh. What is not found is left where it is.')
for (const name of small.sort()) console.log(name)
JS
wc -l link/hook-order.txt
