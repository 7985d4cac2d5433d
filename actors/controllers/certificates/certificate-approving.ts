// Approves the certificate requests of node agents by itself, where access rules say that who asks may have them: for their
// own name (`selfnodeclient`), or for any node (`nodeclient`). All others wait for somebody's decision.
import { nodeClientProblem, SIGNER } from '../../../api/certificates/signers.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import {
  certificateOf,
  certificatesGroup,
  isDecided,
  parsedRequest,
  requestsStorageKey,
  signerNameOf,
  statusWrite,
  usagesOf,
} from './certificate-requests.ts';

/** Access may be given later: the question is put again. */
const ASK_AGAIN_MS = 60_000;

/** A right by which requests are approved. */
interface Permission {
  /** Of certificate requests, which the asker must be allowed to create. */
  readonly subresource: string;
  readonly message: string;
}

const SELF: Permission = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self @agent client certificate after SubjectAccessReview.',
};
const ANY_NODE: Permission = {
  subresource: 'nodeclient',
  message: 'Auto approving @agent client certificate after SubjectAccessReview.',
};

interface Undecided {
  readonly request: ApiObject;
  /** Still to be asked about, the first first. */
  permissions: readonly Permission[];
  granted: Permission | undefined;
  /** Put last. An answer to another is about what the request was before, or about one that had its name. */
  question: Write | undefined;
}

/** The certificate approving controller. Keys are names of requests. */
export class CertificateApproving implements Controller {
  readonly name = 'certificate-approving';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 5;
  readonly #due: Due;
  readonly #dialect: Dialect;
  readonly #signer: string;
  readonly #undecided = new Map<string, Undecided>();

  constructor(due: Due, dialect: Dialect) {
    this.identity = controllerIdentity(dialect, 'certificate-controller');
    this.wants = [requestsStorageKey(dialect)];
    this.#due = due;
    this.#dialect = dialect;
    this.#signer = dialect.spell(SIGNER.nodeClient);
  }

  reset(): void {
    this.#undecided.clear();
  }

  onEvent(event: FeedEvent): void {
    this.#undecided.delete(event.name);
    if (event.type === 'delete') return;
    const request = event.object();
    if (certificateOf(request) !== '' || isDecided(request, 'Approved') || isDecided(request, 'Denied')) return;
    const permissions = this.#permissionsFor(request);
    if (permissions.length === 0) return;
    this.#undecided.set(event.name, { request, permissions, granted: undefined, question: undefined });
    this.#due.add(event.name);
  }

  onSynced(): void {
    for (const name of this.#undecided.keys()) this.#due.add(name);
  }

  plan(key: string): Plan {
    const undecided = this.#undecided.get(key);
    if (undecided === undefined) return NOTHING;
    const { request, permissions, granted } = undecided;
    if (granted !== undefined) {
      const message = this.#dialect.spell(granted.message);
      const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
      return { writes: [statusWrite(request, this.#dialect, 'approval', { condition })] };
    }
    const [next] = permissions;
    if (next !== undefined) {
      undecided.question = this.#question(request, next);
      return { writes: [undecided.question] };
    }
    undecided.permissions = this.#permissionsFor(request);
    return { writes: [], againAfterMs: ASK_AGAIN_MS };
  }

  onOutcome(key: string, write: Write, { ok, body }: WriteOutcome): void {
    const undecided = this.#undecided.get(key);
    if (!ok || undecided === undefined || write !== undecided.question) return;
    const [asked, ...rest] = undecided.permissions;
    undecided.permissions = rest;
    if (asObject(body?.status).allowed === true) undecided.granted = asked;
    this.#due.add(key);
  }

  #permissionsFor(request: ApiObject): readonly Permission[] {
    const parsed = signerNameOf(request) === this.#signer ? parsedRequest(request) : undefined;
    if (parsed === undefined || nodeClientProblem(parsed, usagesOf(request)) !== '') return [];
    const isOwn = asText(asObject(request.spec).username) === parsed.commonName;
    return isOwn ? [SELF, ANY_NODE] : [ANY_NODE];
  }

  #question(request: ApiObject, { subresource }: Permission): Write {
    const { username: user, uid, groups, extra } = asObject(request.spec);
    const group = this.#dialect.spell('authorization.@group');
    const resourceAttributes = {
      group: certificatesGroup(this.#dialect),
      resource: 'certificatesigningrequests',
      verb: 'create',
      subresource,
    };
    const body = {
      apiVersion: `${group}/v1`,
      kind: 'SubjectAccessReview',
      spec: { user, uid, groups, extra, resourceAttributes },
    };
    const resource = 'subjectaccessreviews';
    return {
      verb: 'create',
      target: { group, version: 'v1', resource, subresource: '', namespace: '', name: '' },
      body,
    };
  }
}
