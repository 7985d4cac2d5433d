// `orch store …`: a table of subcommands over data folders and running servers. Each does its work in a module of its own,
// loaded when asked for; none of their logic is here.
import { UsageError } from '../../config/usage-error.ts';
import { asksForHelp } from '../command-line/help-flag.ts';

/** Gets what follows the subcommand's name. */
export type StoreCommand = (argv: readonly string[]) => Promise<void>;

const SUBCOMMANDS: Readonly<Record<string, () => Promise<StoreCommand>>> = {
  check: async () => (await import('./store-check.ts')).check,
  reencrypt: async () => (await import('./store-reencrypt.ts')).reencrypt,
  repair: async () => (await import('./store-repair.ts')).repair,
  snapshot: async () => (await import('./store-snapshot.ts')).snapshot,
  move: async () => (await import('./store-move.ts')).move,
  restore: async () => (await import('./store-restore.ts')).restore,
};

/** Runs the subcommand that `argv` begins with. Throws UsageError when there is none of that name. */
export async function store(argv: readonly string[]): Promise<void> {
  const [name = '', ...rest] = argv;
  const load = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (load === undefined) throw new UsageError(`usage: orch store ${Object.keys(SUBCOMMANDS).join('|')} ARGUMENTS`);
  // Without arguments each says what it takes.
  await (await load())(asksForHelp(rest) ? [] : rest);
}
