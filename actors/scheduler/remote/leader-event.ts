// Tells, as an Event of each object that holds the lock, who leads from now on. Best effort: nobody waits for it.
import type { Clock, Random } from '../../../runtime/environment.ts';
import type { LeaderLock } from '../configuration/configuration.ts';
import type { ClusterPort } from '../driver/cluster-port.ts';
import { reportedEvent, uniqueEventName } from '../driver/event-recorder.ts';
import { type LockPlace, lockReferences } from './leader-locks.ts';

const HTTP_ERROR = 400;
const REASON = 'LeaderElection';

export interface LeaderEventParts {
  readonly port: Pick<ClusterPort, 'createEvent'>;
  readonly environment: { readonly clock: Clock; readonly random: Pick<Random, 'next'> };
  readonly lock: LeaderLock;
  readonly place: LockPlace;
  /** The name of the scheduler that tells it, and of its machine. */
  readonly schedulerName: string;
  readonly host: string;
  readonly identity: string;
}

/** Rejects where the objects cannot be read or an event cannot be written. */
export async function tellLeader(parts: LeaderEventParts): Promise<void> {
  const { port, environment, lock, place, schedulerName, host, identity } = parts;
  const { clock, random } = environment;
  const { namespace, name } = place;
  for (const regarding of await lockReferences(lock, place)) {
    const event = reportedEvent({
      name: uniqueEventName(name, clock, random),
      namespace,
      atMs: clock.nowMs(),
      schedulerName,
      host,
      action: REASON,
      reason: REASON,
      type: 'Normal',
      regarding,
      note: `${identity} became leader`,
    });
    const code = await port.createEvent(namespace, event);
    if (code >= HTTP_ERROR) throw new Error(`the event was answered ${code}`);
  }
}
