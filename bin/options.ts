// `orch options`: everything that can be set, with its default; `--effects` adds what each does in this release.
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../config/dialect.ts';
import { settingsText } from '../config/effect-table.ts';
import { UsageError } from '../config/usage-error.ts';

const DIALECT_FLAG = '--api-dialect=';

export async function options(argv: readonly string[]): Promise<void> {
  const named = argv.find((argument) => argument.startsWith(DIALECT_FLAG))?.slice(DIALECT_FLAG.length) ?? 'orch';
  const dialect = DIALECT_NAMES.find((name): name is DialectName => name === named);
  const unknown = argv.find((argument) => argument !== '--effects' && !argument.startsWith(DIALECT_FLAG));
  if (unknown !== undefined || dialect === undefined) {
    throw new UsageError(`usage: orch options [--effects] [${DIALECT_FLAG}${DIALECT_NAMES.join('|')}]`);
  }
  process.stdout.write(`${settingsText(DIALECTS[dialect], argv.includes('--effects'))}\n`);
}
