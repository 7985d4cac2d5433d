// What clients are told of an object that is of another kind than the one it is taken for.
import { splitApiVersion } from '../resources/resource-table.ts';
import type { VersionedKind } from './conversion.ts';

/** What an object says it is, and what it should be. */
export interface OtherKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly expected: VersionedKind;
  /** There is such a kind. */
  readonly isKnown: boolean;
}

/** Why it cannot be one of the expected kind, in the words that clients know. */
export function otherKindText({ apiVersion, kind, expected, isKnown }: OtherKind): string {
  if (!isKnown) return `no kind ${JSON.stringify(kind)} is registered for version "${apiVersion}"`;
  const { version } = splitApiVersion(apiVersion);
  const within = expected.group === '' ? 'core' : expected.group.split('.', 1)[0];
  return `converting (${version}.${kind}) to (${within}.${expected.kind}): unknown conversion`;
}
