// Service accounts: a secret of theirs lies beside them, and is named by its name alone.
import type { JsonObject } from '../../json/json-value.ts';
import type { Strategy } from '../strategy.ts';

function withNamesOfSecrets(account: JsonObject): JsonObject {
  const { secrets } = account as { secrets?: readonly JsonObject[] | null };
  if (!secrets?.some((reference) => Object.keys(reference).some((member) => member !== 'name'))) return account;
  return { ...account, secrets: secrets.map(({ name }) => (name === undefined ? {} : { name })) };
}

export const serviceAccount: Strategy = { meant: withNamesOfSecrets };
