#!/usr/bin/env node
// The command line: finds the command, runs it, and turns every failure into one line on stderr and exit code 1. No
// command's logic is here.
import { descriptionText, unknownCommand, usageText } from '../config/help.ts';
import { UsageError } from '../config/usage-error.ts';
import { OrchError } from '../runtime/errors.ts';
import { writeExactIntegers } from '../runtime/exact-integers.ts';
import { outliveReaders } from '../runtime/outlived-readers.ts';
import { errorLine } from './command-line/error-line.ts';
import { asksForHelp } from './command-line/help-flag.ts';
import { releaseProblem } from './node-release.ts';
import { UMASK } from './server/closed-directory.ts';
import { setV8Flags } from './v8-flags.ts';

type Command = (argv: readonly string[]) => Promise<void>;

/** Loaded when asked for: a server's start does not pay for the other commands. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./serve.ts')).up,
  apiserver: async () => (await import('./serve.ts')).apiserver,
  scheduler: async () => (await import('./scheduler/scheduler.ts')).scheduler,
  schedule: async () => (await import('./scheduler/schedule.ts')).schedule,
  'check-config': async () => (await import('./check-config.ts')).checkConfig,
  placement: async () => (await import('./placement.ts')).placement,
  options: async () => (await import('./options.ts')).options,
  bench: async () => (await import('../bench/command.ts')).bench,
  bundle: async () => (await import('./admin/bundle.ts')).bundle,
  top: async () => (await import('./admin/top.ts')).top,
  store: async () => (await import('./store/store.ts')).store,
  completion: async () => (await import('./completion.ts')).completion,
};

async function main(argv: readonly string[]): Promise<void> {
  const [name = '', ...rest] = argv;
  if (['', '-h', '--help', 'help'].includes(name)) {
    process.stdout.write(`${usageText()}\n`);
    return;
  }
  if (name === '--version' || name === 'version') {
    if (rest.length > 0) throw new UsageError('usage: orch version');
    const { versionText } = await import('./version.ts');
    process.stdout.write(`${versionText()}\n`);
    return;
  }
  const problem = releaseProblem(process.versions.node);
  if (problem !== undefined) throw new OrchError('BadConfiguration', problem);
  writeExactIntegers();
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) throw await unknown([name]);
  const misnamed = asksForHelp(rest) ? unknownCommand(argv) : undefined;
  if (misnamed !== undefined) throw await unknown(misnamed);
  await (await load())(rest);
}

async function unknown(words: readonly string[]): Promise<UsageError> {
  const { nearestCommand } = await import('../config/completions.ts');
  const nearest = nearestCommand(words);
  const meant = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  return new UsageError(`unknown command ${JSON.stringify(words.join(' '))}${meant}; see orch --help`);
}

/** `help COMMAND` is `COMMAND --help`. */
function requested(argv: readonly string[]): readonly string[] {
  const [name, ...rest] = argv;
  return name === 'help' && rest.length > 0 && !asksForHelp(rest) ? [...rest, '--help'] : argv;
}

// Before any thread: a process has one mask and one set of V8's flags, and threads cannot set it.
process.umask(UMASK);
setV8Flags();
outliveReaders();
const given = requested(process.argv.slice(2));
main(given).catch((error: unknown) => {
  // Commands of their own syntax answer a call for help as they do what they do not understand: whoever called has not failed.
  if (error instanceof UsageError && error.message.startsWith('usage: ') && asksForHelp(given)) {
    process.stdout.write(`${error.message}\n\n${descriptionText(given)}\n`);
    return;
  }
  process.stderr.write(`orch: ${errorLine(error)}\n`);
  process.exit(1);
});
