// What controllers ask of other actors: a plan does not wait for it, and is made again when the answer is there.
import type { SecretTokenSubject } from '../../api/tokens/service-account-claims.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { TryApiService } from './api-service-availability.ts';
import type { SweepNamespace } from './remote-contents.ts';
import type { ListRemotes } from './remote-objects.ts';
import type { LookUpOwner } from './remote-owners.ts';

const ISSUE_DEADLINE_MS = 10_000;
/** Two rounds of calls, and the time in which they are found to be late. */
const TRY_DEADLINE_MS = 20_000;

/** What an ingress gives itself, and the time in which that is found to be over. */
const SWEEP_DEADLINE_MS = 45_000;

const LOOK_UP_DEADLINE_MS = 20_000;
const LIST_DEADLINE_MS = 75_000;

/** Asks the auth actor. Rejects where it does not answer, or has no key. */
export function tokenIssuer(context: ActorContext): (subject: SecretTokenSubject) => Promise<string> {
  return async (subject) => {
    const issued = await context
      .ref('auth')
      .ask({ type: 'issueKeptToken', subject }, { deadlineMs: ISSUE_DEADLINE_MS });
    if (issued.refused !== undefined) throw new OrchError('BadConfiguration', 'there is no key to sign tokens with');
    return issued.token;
  };
}

/** Asks the first ingress: it calls by the way that requests go. Rejects where there is none. */
export function trying(context: ActorContext): TryApiService {
  return async (name) => {
    const [ingress] = context.refs('ingress');
    if (ingress === undefined) throw new OrchError('ActorDown', 'there is no ingress');
    return (await ingress.ask({ type: 'tryApiService', name }, { deadlineMs: TRY_DEADLINE_MS })).finding;
  };
}

/** Asks the first ingress. Rejects where there is none. */
export function ownerLookUp(context: ActorContext): LookUpOwner {
  return async (asked) => {
    const [ingress] = context.refs('ingress');
    if (ingress === undefined) throw new OrchError('ActorDown', 'there is no ingress');
    return ingress.ask({ type: 'lookUpOwner', ...asked }, { deadlineMs: LOOK_UP_DEADLINE_MS });
  };
}

/** Asks the first ingress. Rejects where there is none. */
export function remoteListing(context: ActorContext): ListRemotes {
  return async () => {
    const [ingress] = context.refs('ingress');
    if (ingress === undefined) throw new OrchError('ActorDown', 'there is no ingress');
    return ingress.ask({ type: 'listOwnedRemotes' }, { deadlineMs: LIST_DEADLINE_MS });
  };
}

/** Asks the first ingress, too. Rejects where there is none. */
export function sweeping(context: ActorContext): SweepNamespace {
  return async (namespace) => {
    const [ingress] = context.refs('ingress');
    if (ingress === undefined) throw new OrchError('ActorDown', 'there is no ingress');
    return ingress.ask({ type: 'sweepNamespace', namespace }, { deadlineMs: SWEEP_DEADLINE_MS });
  };
}
