// What pods take from their service account. Parsed once a revision.

import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asObject, asText, booleanAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';

export interface Account {
  readonly name: string;
  readonly uid: string;
  /** Undefined: it does not say. */
  readonly automounts: boolean | undefined;
  /** Secrets that its pods may use, where it limits them; one of them has its token. */
  readonly secrets: ReadonlySet<string>;
  readonly pullSecrets: readonly string[];
  /** Its pods use no other secrets than its own. */
  readonly limitsSecrets: boolean;
}

/** As Go reads truth values. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/** @param limitsKey the annotation that limits secrets. */
export function readAccount(stored: JsonObject, limitsKey: string): Account {
  const { name = '', uid = '', annotations } = metadataOf(stored);
  const names = (key: string): string[] => partsAt(stored, key).map((reference) => textAt(reference, 'name'));
  const { automountServiceAccountToken: automounts } = stored;
  return {
    name,
    uid,
    automounts: typeof automounts === 'boolean' ? automounts : undefined,
    secrets: new Set(names('secrets')),
    pullSecrets: names('imagePullSecrets'),
    limitsSecrets: TRUE.has(asText(asObject(annotations)[limitsKey])),
  };
}

/** Whether a pod gets a token: the pod's own word counts before the account's. */
export function isMounted({ automounts }: Account, spec: JsonObject): boolean {
  return booleanAt(spec, 'automountServiceAccountToken', automounts ?? true);
}
