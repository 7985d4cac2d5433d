// `orch options`: everything that can be set, with its default; `--effects` adds what each does in this release.
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../config/dialect.ts';
import { settingsText } from '../config/effect-table.ts';
import { UsageError } from '../config/usage-error.ts';
import { takeFlag } from './command-line/taken-flag.ts';

const DIALECT_FLAG = '--api-dialect';
const USAGE = `usage: orch options [--effects] [${DIALECT_FLAG} ${DIALECT_NAMES.join('|')}]`;

export async function options(argv: readonly string[]): Promise<void> {
  const { value: named = 'orch', rest } = takeFlag(argv, DIALECT_FLAG, USAGE);
  const dialect = DIALECT_NAMES.find((name): name is DialectName => name === named);
  if (dialect === undefined || rest.some((argument) => argument !== '--effects')) throw new UsageError(USAGE);
  process.stdout.write(`${settingsText(DIALECTS[dialect], argv.includes('--effects'))}\n`);
}
