// What every active namespace is given: the service account `default`, and the config map with the certificate of the
// cluster's authority. Makes them again when they are deleted, and sets the config map right when it is changed. A controller
// manager beside this server may publish another authority: then the two of them give way to each other more and more.

import { asObject } from '../../../api/json/object-fields.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { Contested } from '../contested.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  type Identity,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import { controllerIdentity } from '../identities.ts';
import { coreTarget, isTerminating } from '../targets.ts';

const NAMESPACES = 'core/namespaces';
const SERVICE_ACCOUNTS = 'core/serviceaccounts';
const CONFIG_MAPS = 'core/configmaps';
const ACCOUNT = 'default';

/** What of it is given. Without `caPem` there is nothing to publish, and config maps are left alone. */
export interface NamespaceGifts {
  readonly account: boolean;
  readonly caPem: string;
}

/** The default service account and root certificate controllers. Keys are names of namespaces. */
export class NamespaceDefaults implements Controller {
  readonly name = 'namespace-defaults';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 20;
  readonly #due: Due;
  readonly #givesAccount: boolean;
  readonly #caPem: string;
  readonly #configMapName: string;
  readonly #active = new Set<string>();
  readonly #accounts = new Set<string>();
  /** The config map of each namespace: itself where it must be set right, undefined where it is as it should be. */
  readonly #configMaps = new Map<string, ApiObject | undefined>();
  readonly #contested: Contested;
  readonly #publisher: Identity;

  constructor(clock: Clock, due: Due, dialect: Dialect, { account, caPem }: NamespaceGifts) {
    this.identity = controllerIdentity(dialect, 'service-account-controller');
    this.wants = [NAMESPACES, ...(account ? [SERVICE_ACCOUNTS] : []), ...(caPem === '' ? [] : [CONFIG_MAPS])];
    this.#publisher = controllerIdentity(dialect, 'root-ca-cert-publisher');
    this.#contested = new Contested(clock);
    this.#due = due;
    this.#givesAccount = account;
    this.#caPem = caPem;
    this.#configMapName = dialect.spell('@short-root-ca.crt');
  }

  reset(): void {
    this.#active.clear();
    this.#accounts.clear();
    this.#configMaps.clear();
    this.#contested.clear();
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === NAMESPACES) {
      if (event.type !== 'delete' && !isTerminating(event.object())) this.#active.add(event.name);
      else this.#active.delete(event.name);
      if (event.type === 'delete') this.#contested.forget(event.name);
      this.#due.add(event.name);
      return;
    }
    if (event.storageKey === SERVICE_ACCOUNTS) {
      if (!event.isNamed(ACCOUNT)) return;
      if (event.type === 'delete') this.#accounts.delete(event.namespace);
      else this.#accounts.add(event.namespace);
    } else {
      if (!event.isNamed(this.#configMapName)) return;
      if (event.type === 'delete') this.#configMaps.delete(event.namespace);
      else this.#configMaps.set(event.namespace, this.#wrong(event.object()));
    }
    this.#due.add(event.namespace);
  }

  onSynced(): void {
    for (const namespace of this.#active) this.#due.add(namespace);
  }

  plan(key: string): Plan {
    if (!this.#active.has(key)) return NOTHING;
    const writes: Write[] = [];
    if (this.#givesAccount && !this.#accounts.has(key)) {
      const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace: key } };
      writes.push({ verb: 'create', target: coreTarget('serviceaccounts', key, ''), body });
    }
    const configMap = this.#planConfigMap(key);
    if (configMap === undefined) return { writes };
    const leftMs = configMap.verb === 'update' ? this.#contested.leftMs(key) : 0;
    if (leftMs > 0) return { writes, againAfterMs: leftMs };
    writes.push({ ...configMap, as: this.#publisher });
    return { writes };
  }

  onOutcome(key: string, { verb }: Write, { ok }: WriteOutcome): void {
    if (verb === 'update' && ok) this.#contested.onSetRight(key);
  }

  #wrong(configMap: ApiObject): ApiObject | undefined {
    const data = asObject(configMap.data);
    const isRight = data['ca.crt'] === this.#caPem && Object.keys(data).length === 1;
    return isRight ? undefined : configMap;
  }

  #planConfigMap(namespace: string): Write | undefined {
    if (this.#caPem === '') return undefined;
    const data = { 'ca.crt': this.#caPem };
    const name = this.#configMapName;
    if (!this.#configMaps.has(namespace)) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
      return { verb: 'create', target: coreTarget('configmaps', namespace, ''), body };
    }
    const wrong = this.#configMaps.get(namespace);
    if (wrong === undefined) return undefined;
    return { verb: 'update', target: coreTarget('configmaps', namespace, name), body: { ...wrong, data } };
  }
}
