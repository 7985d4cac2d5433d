#!/usr/bin/env node
// The command line: finds the command, runs it, and turns every failure into one line on stderr and exit code 1. No
// command's logic is here.
import { usageText } from '../config/help.ts';
import { UsageError } from '../config/usage-error.ts';
import { isOrchError } from '../runtime/errors.ts';

type Command = (argv: readonly string[]) => Promise<void>;

/** Loaded when asked for: a server's start does not pay for the other commands. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./serve.ts')).up,
  apiserver: async () => (await import('./serve.ts')).apiserver,
  placement: async () => (await import('./placement.ts')).placement,
  bench: async () => (await import('../bench/command.ts')).bench,
  store: async () => (await import('./store.ts')).store,
};

async function main(argv: readonly string[]): Promise<void> {
  const [name = '', ...rest] = argv;
  if (name === '' || name === '-h' || name === '--help' || name === 'help') {
    process.stdout.write(`${usageText()}\n`);
    return;
  }
  if (name === '--version' || name === 'version') {
    const { versionText } = await import('./version.ts');
    process.stdout.write(`${versionText()}\n`);
    return;
  }
  const load = COMMANDS[name];
  if (load === undefined) throw new UsageError(`unknown command ${JSON.stringify(name)}; see orch --help`);
  await (await load())(rest);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const expected = error instanceof UsageError || isOrchError(error);
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(expected ? `orch: ${message}\n` : `orch: ${message.split('\n', 1)[0]}\n`);
  process.exit(1);
}
