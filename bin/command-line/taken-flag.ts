// A flag with a value among the arguments of a command that has a syntax of its own: `--name value` or `--name=value`, anywhere.
import { UsageError } from '../../config/usage-error.ts';

export interface TakenFlag {
  /** Undefined where the flag is not given. */
  readonly value: string | undefined;
  /** The arguments without it. */
  readonly rest: readonly string[];
}

/** Takes the first `flag` out of `argv`. Throws UsageError with the text `usage` where no value follows it. */
export function takeFlag(argv: readonly string[], flag: string, usage: string): TakenFlag {
  const at = argv.findIndex((argument) => argument === flag || argument.startsWith(`${flag}=`));
  if (at < 0) return { value: undefined, rest: argv };
  const isJoined = argv[at] !== flag;
  const value = isJoined ? argv[at]!.slice(flag.length + 1) : argv[at + 1];
  if (value === undefined) throw new UsageError(usage);
  return { value, rest: argv.toSpliced(at, isJoined ? 1 : 2) };
}
