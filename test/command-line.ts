// The command lines of the test runners.
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What is given on the command line. One that cannot be read ends the process, with a line that says why and the usage. */
export function readCommandLine<T extends ParseArgsConfig>(usage: string, config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}
