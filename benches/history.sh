#!/bin/sh
# Compares the program with wc, Node, rg and an event that does nothing, on a transcript of 200 MB; and its memory at 1 GB.
#   cargo build --release && benches/history.sh [PROGRAM]
# Needs hyperfine, ripgrep, Node and GNU time. Results go to standard output.
set -eu
program=$(realpath "${1:-target/release/notesoup}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME="$work/state" XDG_CONFIG_HOME="$work/config"
maker="${MAKER:-cargo bench --quiet --bench history --}"
$maker make "$work/t.jsonl" 200
cat >"$work/parse.js" <<'END'
const rl = require('readline').createInterface({ input: require('fs').createReadStream(process.argv[2]) })
let rows = 0
rl.on('line', line => { if (JSON.parse(line).uuid) rows += 1 }).on('close', () => console.log(rows))
END
list="$program history list --json --transcript $work/t.jsonl"
echo '{"v":1,"event":"classic.Stop","e":{},"facts":{}}' >"$work/event.json"
# The first reading of all of them: the index goes before each run.
forget="rm -rf $work/state"
compare() { hyperfine -N --warmup 2 --runs "${RUNS:-15}" --style basic "$@"; }

echo "== the newest 20, without an index: within 3 times of wc -l, 4 times as fast as Node"
compare --prepare "$forget" -n "wc -l" "wc -l $work/t.jsonl" -n "notesoup history list" "$list"
hyperfine -N --warmup 1 --runs 3 --style basic -n "node, every line" "node $work/parse.js $work/t.jsonl"
echo "== query: within 4 times of rg"
compare --prepare "$forget" -n "rg -i -F -c" "rg -i -F -c zyzzyva $work/t.jsonl" -i \
    -n "notesoup history search" "$program history search zyzzyva --transcript $work/t.jsonl"
echo "== the newest 20, with the index: within 3 times of an event that does nothing"
$list >/dev/null
compare -n "notesoup hook" --input "$work/event.json" "$program hook" -n "notesoup history list" "$list"
echo "== after 1 MB more: within 10 ms of that"
$maker more "$work/t.jsonl" 1000
compare -n "notesoup history list" "$list"
echo "== peak memory, in KiB: under 65536"
rm -rf "$work/state"
command time -f "200 MB: %M" $list >/dev/null
command time -f "200 MB, with the index: %M" $list >/dev/null
$maker make "$work/t.jsonl" 1000
rm -rf "$work/state"
command time -f "1 GB: %M" $list >/dev/null
command time -f "1 GB, search: %M" "$program" history search zyzzyva --transcript "$work/t.jsonl" >/dev/null
