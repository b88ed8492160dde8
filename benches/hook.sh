#!/bin/sh
# Compares `notesoup hook`, for an event that answers nothing and with a config of the user present, with a Rust program
# that copies standard input to standard output, built the same way, and with a Node program that does.
#   cargo build --release --bin notesoup --example copy && benches/hook.sh
# Needs hyperfine 1.20 and Node. Results go to standard output; runs are in turn, the last two lines say the ratios.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home/.config/notesoup" "$work/project"
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config" XDG_STATE_HOME="$work/home/.local/state"
cat >"$XDG_CONFIG_HOME/notesoup/hooks.toml" <<TOML
[window]
reset_margin_tokens = 30000

[prune]
keep_head_chars = 1500
TOML
cat >"$work/request" <<JSON
{"v":1,"event":"session.measure","e":{"tokens":60000},"facts":{"session_id":"bench","cwd":"$work/project","model":"claude-opus-5-5","plugin_root":"$top/plugin","client_version":"2.1.332","headless":false,"usage":{"tokens":60000,"window":1000000,"percent":6},"turn":{"running":false,"id":null,"completed":3},"settings":{"merged":{},"options":{},"plugin_configs":{},"project_env":[]},"taken_names":[]},"state":{"machine":{"v":1,"marks":{"unit":"tokens","point":967000,"reset_at":937000,"warn_at":920616},"window":{"id":"claude:bench:0"}}}}
JSON
# Both as they are when installed: copied, so that the page cache has them in larger pieces than a linker leaves behind.
cp target/release/notesoup target/release/examples/copy "$work/"
answer=$("$work/notesoup" hook <"$work/request")
[ "$answer" = '{"v":1}' ] || { echo "the event is answered: $answer" >&2; exit 1; }

# One round after the other, so that a busy moment of the machine hits all three.
for round in 1 2 3 4 5; do
    hyperfine -N --warmup 5 --runs 100 --style none --input "$work/request" --export-json "$work/$round.json" \
        -n rust "$work/copy" \
        -n notesoup "$work/notesoup hook" \
        -n node "node $top/benches/hook/copy.mjs" >/dev/null 2>&1
done
node - "$work" <<'JS'
const { readFileSync } = require('node:fs')
const rounds = [1, 2, 3, 4, 5].map(n => JSON.parse(readFileSync(`${process.argv[2]}/${n}.json`)).results)
const median = values => values.sort((a, b) => a - b)[values.length >> 1]
const [rust, notesoup, node] = [0, 1, 2].map(n => median(rounds.flatMap(results => results[n].times)) * 1000)
console.log(`a Rust program that copies   ${rust.toFixed(2)} ms`)
console.log(`notesoup hook                ${notesoup.toFixed(2)} ms`)
console.log(`a Node program that copies   ${node.toFixed(2)} ms`)
console.log(`notesoup / Rust              ${(notesoup / rust).toFixed(2)}, at most 1.5`)
console.log(`Node / notesoup              ${(node / notesoup).toFixed(1)}, at least 40`)
JS
