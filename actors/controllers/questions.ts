// What controllers ask of other actors: a plan does not wait for it, and is made again when the answer is there.
import type { SecretTokenSubject } from '../../api/tokens/service-account-claims.ts';
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { IngressProtocol } from '../ingress/protocol.ts';
import type { TryApiService } from './extension/api-service-availability.ts';
import type { LookUpOwner } from './garbage/remote-owners.ts';
import type { SweepNamespace } from './namespaces/remote-contents.ts';
import type { ListRemotes } from './remote-listings.ts';
import type { TokenIssuer } from './tokens/service-account-tokens.ts';

const ISSUE_DEADLINE_MS = 10_000;
/** Two rounds of calls, and the time in which they are found to be late. */
const TRY_DEADLINE_MS = 20_000;

/** What an ingress gives itself, and the time in which that is found to be over. */
const SWEEP_DEADLINE_MS = 45_000;

const LOOK_UP_DEADLINE_MS = 20_000;
const LIST_DEADLINE_MS = 75_000;

/** What the switchable controllers ask. */
export interface Questions {
  readonly issue: TokenIssuer;
  readonly sweep: SweepNamespace;
  readonly lookUp: LookUpOwner;
  readonly listRemotes: ListRemotes;
}

export function questionsOf(context: ActorContext): Questions {
  return {
    issue: tokenIssuer(context),
    sweep: sweeping(context),
    lookUp: ownerLookUp(context),
    listRemotes: remoteListing(context),
  };
}

/** Who calls extension servers: by the way that requests go. Throws where there is none. */
export function firstIngress(context: Pick<ActorContext, 'refs'>): Ref<IngressProtocol> {
  const [ingress] = context.refs('ingress');
  if (ingress === undefined) throw new OrchError('ActorDown', 'there is no ingress');
  return ingress;
}

/** Asks the auth actor. Rejects where it does not answer, or has no key. */
function tokenIssuer(context: ActorContext): (subject: SecretTokenSubject) => Promise<string> {
  return async (subject) => {
    const issued = await context
      .ref('auth')
      .ask({ type: 'issueKeptToken', subject }, { deadlineMs: ISSUE_DEADLINE_MS });
    if (issued.refused !== undefined) throw new OrchError('BadConfiguration', 'there is no key to sign tokens with');
    return issued.token;
  };
}

/** Asks the first ingress. Rejects where there is none. */
export function trying(context: ActorContext): TryApiService {
  return async (name) =>
    (await firstIngress(context).ask({ type: 'tryApiService', name }, { deadlineMs: TRY_DEADLINE_MS })).finding;
}

/** Asks the first ingress. Rejects where there is none. */
function ownerLookUp(context: ActorContext): LookUpOwner {
  return async (asked) =>
    firstIngress(context).ask({ type: 'lookUpOwner', ...asked }, { deadlineMs: LOOK_UP_DEADLINE_MS });
}

/** Asks the first ingress. Rejects where there is none. */
function remoteListing(context: ActorContext): ListRemotes {
  return async () => firstIngress(context).ask({ type: 'listOwnedRemotes' }, { deadlineMs: LIST_DEADLINE_MS });
}

/** Asks the first ingress. Rejects where there is none. */
function sweeping(context: ActorContext): SweepNamespace {
  return async (namespace) =>
    firstIngress(context).ask({ type: 'sweepNamespace', namespace }, { deadlineMs: SWEEP_DEADLINE_MS });
}
