// `orch completion SHELL`: a script that teaches a shell to complete orch's commands, options and values. The script asks
// `orch completion candidates WORDS`, which is not meant for people.
import { COMPLETION_SCRIPTS, candidateLines } from '../config/completion-scripts.ts';
import { completionsOf } from '../config/completions.ts';
import { SHELLS } from '../config/shells.ts';
import { UsageError } from '../config/usage-error.ts';
import { asksForHelp } from './command-line/help-flag.ts';

const USAGE = `usage: orch completion ${SHELLS.join('|')}`;

export async function completion(argv: readonly string[]): Promise<void> {
  const [named, ...words] = argv;
  if (named === 'candidates') {
    process.stdout.write(candidateLines(completionsOf(words)));
    return;
  }
  const shell = SHELLS.find((one) => one === named);
  if (shell === undefined || words.length > 0 || asksForHelp(argv)) throw new UsageError(USAGE);
  process.stdout.write(COMPLETION_SCRIPTS[shell]);
}
