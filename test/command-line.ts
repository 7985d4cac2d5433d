// The command lines of the test runners.
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What is given on the command line. One that cannot be read ends the process, with a line that says why and the usage. */
export function readCommandLine<T extends ParseArgsConfig>(usage: string, config: T): ReturnType<typeof parseArgs<T>> {
  try {
    const read = parseArgs(config);
    requireNumber('seed', read.values);
    return read;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

/** Another text would be one and the same seed, whatever it says. */
function requireNumber(name: string, values: object): void {
  const given: unknown = Reflect.get(values, name);
  if (typeof given === 'string' && !/^\d+$/.test(given)) throw new Error(`--${name} must be a number, not "${given}"`);
}
