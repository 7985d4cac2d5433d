// A call for help among the arguments of a command that has a syntax of its own.
const HELP: readonly string[] = ['-h', '--help'];

export function asksForHelp(argv: readonly string[]): boolean {
  return argv.some((argument) => HELP.includes(argument));
}
