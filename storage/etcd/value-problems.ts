// What can be wrong with one object's value in etcd, by itself: whether it can be read, and whether what lies beside the object
// (key, labels, where its version goes) is what the object says. Changes nothing.

import { isSealedValue } from '../encryption/sealed-value.ts';
import { REVISION_STRIDE } from '../engines/shared-engine.ts';
import { unpackAttributes } from '../forms/attributes.ts';
import { clearRevisions, readStoredValue, type StoredValue, storedRevision } from '../forms/stored-value.ts';
import { parseKey } from '../object-key.ts';

/** An object as it is stored, as far as it is looked into here. */
export interface StoredObject {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly owner?: unknown;
}

export interface LookedInto {
  /** One line each, without the key. */
  readonly problems: readonly string[];
  /** True: servers cannot start on it. */
  readonly isUnreadable: boolean;
  readonly object: StoredObject | undefined;
}

const KEY = /^[^/]+\/[^/]+\/[^/]*\/.+$/s;
const BEFORE_SLOT = '"resourceVersion":';

/** Problems that a value has sealed or not. `dyingPlace`: a place of this or above is its object's last. */
export function outerProblems(key: string, value: Uint8Array, dyingPlace: number): readonly string[] {
  const place = storedRevision(key, value);
  if (place === undefined) return ['does not match its checksum'];
  if (!isSealedValue(value) && readStoredValue(key, value) === undefined) return ['has no envelope'];
  const problems: string[] = [];
  if (!KEY.test(key)) problems.push('lies under a key that no object has');
  const isPlace =
    Number.isInteger(place) && place >= 0 && place % dyingPlace < REVISION_STRIDE && place < 2 * dyingPlace;
  if (!isPlace) problems.push(`says place ${place} of its batch`);
  const { bornRevision } = clearRevisions(value);
  if (!Number.isSafeInteger(bornRevision) || bornRevision < 0)
    problems.push(`says that it was made at ${bornRevision}`);
  return problems;
}

/** What an opened value says. `plain`: its stored form as it is without encryption. */
export function lookInto(key: string, plain: Uint8Array): LookedInto {
  const stored = readStoredValue(key, plain);
  if (stored === undefined) return unreadable('has no envelope');
  let object: StoredObject;
  try {
    object = JSON.parse(stored.json.toString('utf8')) as StoredObject;
  } catch {
    return unreadable('is not JSON');
  }
  return { problems: innerProblems(key, stored, object), isUnreadable: false, object };
}

export function unreadable(what: string): LookedInto {
  return { problems: [what], isUnreadable: true, object: undefined };
}

function innerProblems(key: string, stored: StoredValue, { metadata = {} }: StoredObject): readonly string[] {
  const problems: string[] = [];
  const { name, namespace } = parseKey(key);
  if (metadata.name !== name || (metadata.namespace ?? '') !== namespace) {
    problems.push(`is of another object: ${metadata.namespace ?? ''}/${metadata.name ?? ''}`);
  }
  const before = stored.json.toString(
    'latin1',
    Math.max(0, stored.revisionOffset - BEFORE_SLOT.length),
    stored.revisionOffset,
  );
  if (before !== BEFORE_SLOT) problems.push('has no place for its version where it says');
  const { labels } = unpackAttributes(stored.attributes);
  const said = Object.entries(metadata.labels ?? {});
  if (said.length !== Object.keys(labels).length || said.some(([label, value]) => labels[label] !== value)) {
    problems.push('has other labels beside it than in it');
  }
  return problems;
}
