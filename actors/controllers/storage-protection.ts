// Takes the finalizer off claims and volumes that are to go and are no longer used: a claim is used by the bound pods that name it (a
// pod that is not bound yet will not start with a claim that is to go), and by the very pod that it was made for, not another of that
// name, until nothing runs in it any more; a volume while it is bound. Puts it on those that came without.

import { asText, partAt, partsAt, textsAt } from '../../api/json/object-fields.ts';
import { protectionFinalizers } from '../../api/storage-protection.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { GroupedSets } from '../../values/grouped-sets.ts';
import { mayBeBound } from '../pod-marks.ts';
import { type ApiObject, type Controller, type Due, type Identity, NOTHING, type Plan } from './controller.ts';
import { controllerIdentity } from './identities.ts';
import { coreTarget, isTerminating, keyOf, splitKey } from './targets.ts';

const PODS = 'core/pods';
const CLAIMS = 'core/persistentvolumeclaims';
const VOLUMES = 'core/persistentvolumes';

interface Protected {
  readonly revision: number;
  readonly finalizers: readonly string[];
  readonly isTerminating: boolean;
  /** Of volumes. */
  readonly isBound: boolean;
  /** The uid of its controller; empty where it has none. */
  readonly owner: string;
}

/** Keys are `<namespace>/<name>` of claims, and `/<name>` of volumes. */
export class StorageProtection implements Controller {
  readonly name = 'storage-protection';
  readonly identity;
  readonly wants: readonly string[];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 16;
  readonly #ofVolumes: Identity;
  readonly #due: Due;
  readonly #finalizers: ReturnType<typeof protectionFinalizers>;
  readonly #objects = new Map<string, Protected>();
  /** The claims of each bound pod, and the pods of each claim: `<namespace>/<name>`, of those made for a pod with ` <uid>` of that. */
  readonly #claimsOfPod = new Map<string, readonly string[]>();
  /** Pods that are bound: what they use does not change any more, and unless claims are made for them they are not parsed again. */
  readonly #boundPods = new Set<string>();
  /** The bound pods that claims are made for. */
  readonly #withOwnClaims = new Set<string>();
  readonly #podsOfClaim = new GroupedSets();

  constructor(
    due: Due,
    dialect: Dialect,
    { claims, volumes }: { readonly claims: boolean; readonly volumes: boolean },
  ) {
    this.identity = controllerIdentity(dialect, 'pvc-protection-controller');
    this.wants = [...(claims ? [PODS, CLAIMS] : []), ...(volumes ? [VOLUMES] : [])];
    this.#ofVolumes = controllerIdentity(dialect, 'pv-protection-controller');
    this.#due = due;
    this.#finalizers = protectionFinalizers(dialect);
  }

  reset(): void {
    this.#objects.clear();
    this.#claimsOfPod.clear();
    this.#boundPods.clear();
    this.#withOwnClaims.clear();
    this.#podsOfClaim.clear();
  }

  onSynced(): void {
    for (const key of this.#objects.keys()) this.#due.add(key);
  }

  onEvent(event: FeedEvent): void {
    const key = keyOf(event.namespace, event.name);
    if (event.storageKey === PODS) {
      this.#onPod(key, event);
      return;
    }
    if (event.type === 'delete') this.#objects.delete(key);
    else {
      const object = event.object();
      this.#objects.set(key, {
        revision: event.revision,
        finalizers: textsAt(partAt(object, 'metadata'), 'finalizers'),
        isTerminating: isTerminating(object),
        isBound: partAt(object, 'status').phase === 'Bound',
        owner: ownerOf(object),
      });
      if (event.type !== 'present') this.#due.add(key);
    }
  }

  plan(key: string): Plan {
    const object = this.#objects.get(key);
    if (object === undefined) return NOTHING;
    const { namespace, name } = splitKey(key);
    const isVolume = namespace === '';
    const finalizer = isVolume ? this.#finalizers.ofVolumes : this.#finalizers.ofClaims;
    const { finalizers, isTerminating: isLeaving, revision } = object;
    const isKept = finalizers.includes(finalizer);
    if (isKept !== isLeaving) return NOTHING;
    if (isLeaving && (isVolume ? object.isBound : this.#isUsed(key, object))) return NOTHING;
    const left = isLeaving ? finalizers.filter((one) => one !== finalizer) : [...finalizers, finalizer];
    const target = coreTarget(isVolume ? 'persistentvolumes' : 'persistentvolumeclaims', namespace, name);
    const body = { metadata: { resourceVersion: String(revision), finalizers: left } };
    return { writes: [{ verb: 'patch', target, body, as: isVolume ? this.#ofVolumes : this.identity }] };
  }

  #isUsed(claim: string, { owner }: Protected): boolean {
    return this.#podsOfClaim.of(claim).size > 0 || this.#podsOfClaim.of(`${claim} ${owner}`).size > 0;
  }

  #onPod(key: string, event: FeedEvent): void {
    if (event.type === 'delete') {
      this.#boundPods.delete(key);
      this.#withOwnClaims.delete(key);
      this.#use(key, NONE);
      return;
    }
    if (this.#boundPods.has(key) ? !this.#withOwnClaims.has(key) : !mayBeBound(event)) return;
    const pod = event.object();
    if (asText(partAt(pod, 'spec').nodeName) === '') return;
    this.#boundPods.add(key);
    const own = ownClaimsOf(pod);
    if (own.length > 0) this.#withOwnClaims.add(key);
    const { uid } = partAt(pod, 'metadata');
    const names = [...namedClaimsOf(pod), ...(isShutDown(pod) ? NONE : own.map((name) => `${name} ${uid}`))];
    this.#use(
      key,
      names.map((name) => keyOf(event.namespace, name)),
    );
  }

  /** From now on a pod uses these claims, and no others. */
  #use(pod: string, claims: readonly string[]): void {
    for (const claim of this.#claimsOfPod.get(pod) ?? NONE) {
      if (!claims.includes(claim) && this.#podsOfClaim.remove(claim, pod)) this.#due.add(claim.split(' ', 1)[0]!);
    }
    if (claims.length === 0) this.#claimsOfPod.delete(pod);
    else this.#claimsOfPod.set(pod, claims);
    for (const claim of claims) this.#podsOfClaim.add(claim, pod);
  }
}

const NONE: readonly string[] = [];

function volumesOf(pod: ApiObject): readonly ApiObject[] {
  return partsAt(partAt(pod, 'spec'), 'volumes');
}

/** The claims that a pod names. */
function namedClaimsOf(pod: ApiObject): readonly string[] {
  return volumesOf(pod)
    .map((volume) => asText(partAt(volume, 'persistentVolumeClaim').claimName))
    .filter((name) => name !== '');
}

function ownerOf(claim: ApiObject): string {
  const owner = partsAt(partAt(claim, 'metadata'), 'ownerReferences').find(({ controller }) => controller === true);
  return asText(owner?.uid);
}

/** The claims that are made for it. */
function ownClaimsOf(pod: ApiObject): readonly string[] {
  return volumesOf(pod)
    .filter(({ ephemeral }) => ephemeral !== undefined)
    .map(({ name }) => `${asText(partAt(pod, 'metadata').name)}-${asText(name)}`);
}

/** Its agent has ended it, or is not waited for. Its own claims may be what its end waits for then: kept for it, both would stay for ever. */
function isShutDown(pod: ApiObject): boolean {
  return isTerminating(pod) && partAt(pod, 'metadata').deletionGracePeriodSeconds === 0;
}
