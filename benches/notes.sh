#!/bin/sh
# Compares the program with rg, find and cp on 10,000 notes of 10 KB.
#   cargo build --release && benches/notes.sh [PROGRAM]
# Needs hyperfine, ripgrep and GNU find. Results go to standard output.
set -eu
program=$(realpath "${1:-target/release/notesoup}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo bench --quiet --bench notes -- make "$work/notes"
notes="$program --notes-home $work/notes notes --project bench --cwd /"
folder=$work/notes/project/bench
head -c 10000 "$folder/note-00001.md" >"$work/body"

echo "== search: within 1.5 times of rg"
hyperfine -N --warmup 3 --runs 20 --style basic \
    -n "rg -i -F" "rg -i -F 'needle in' $folder" \
    -n "notesoup notes search" "$notes search 'needle in'"
echo "== list: within 3 times of find"
hyperfine -N --warmup 3 --runs 20 --style basic \
    -n "find -printf" "find $folder -name '*.md' -printf '%T@ %s %p\n'" \
    -n "notesoup notes list" "$notes list"
echo "== one durable write: within 1.5 times of cp and sync"
# Each write has something new, or there would be nothing to write.
hyperfine --warmup 3 --runs 50 --style basic --prepare "date +%s%N >>$work/body" \
    -n "cp, sync" "cp $work/body $folder/copy.md && sync $folder/copy.md $folder" \
    -n "notesoup notes write" "$notes write @project/written $work/body"
