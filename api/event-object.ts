// The core/v1 Events that components of the server tell users of things with. Pure; how often, and under which name, is theirs.

/** What there is to tell. */
export interface Told {
  readonly namespace: string;
  readonly name: string;
  /** What it is about, as a reference. */
  readonly involvedObject: object;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly component: string;
  /** When, as timestamps are written. */
  readonly at: string;
}

/** An event that has happened once. */
export function newEvent({ namespace, name, involvedObject, type, reason, message, component, at }: Told) {
  return {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name, namespace },
    involvedObject,
    reason,
    message,
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    type,
  };
}
