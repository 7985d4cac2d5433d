// What a command says, line by line: on standard output, and on standard error what is to be noticed.

export function print(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

export function warn(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}
