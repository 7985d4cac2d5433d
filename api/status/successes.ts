// The two successes that answer with a Status instead of an object.
import type { NamedType } from './failures.ts';
import type { Status } from './status.ts';

/** A completed DELETE of a type whose deletion answers with a Status. Carries no code; the HTTP code is 200. */
export function deleted(type: NamedType, name: string, uid: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name,
      ...(type.group === '' ? undefined : { group: type.group }),
      kind: type.plural,
      ...(uid === '' ? undefined : { uid }),
    },
  };
}

/** A completed binding or eviction: 201. */
export function created(): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}
