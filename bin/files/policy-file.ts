// Reads the file of `--authorization-policy-file`, so that a start with a bad line ends with its number.
import { AbacLineError, parseAbacPolicy } from '../../api/authorization/abac-policy.ts';
import type { Dialect } from '../../config/dialect.ts';
import { OrchError } from '../../runtime/errors.ts';
import { operatorText } from './operator-file.ts';

/** The text of the file, every line of which is a rule; empty where none is named. Throws OrchError BadConfiguration. */
export function policyText(file: string, dialect: Dialect): string {
  if (file === '') return '';
  const text = operatorText(file, 'the policy file');
  try {
    parseAbacPolicy(text, dialect.spell('abac.authorization.@label'));
    return text;
  } catch (error) {
    if (!(error instanceof AbacLineError)) throw error;
    throw new OrchError('BadConfiguration', `${file}:${error.line}: ${error.message}`);
  }
}
