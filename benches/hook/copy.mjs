// Copies standard input to standard output.
process.stdin.pipe(process.stdout)
