// Services and the controllers that own pods, by what they select: how a pod without constraints of its own is told which
// pods are its like. Pure.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, asTextMap } from '../../../api/json/object-fields.ts';
import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import { keep } from '../../../values/kept.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { readSelector } from '../pods/pod-terms.ts';

/** The kinds whose selectors count, as owner references name them: `<apiVersion>/<kind>`. */
const OWNER_KINDS: Readonly<Record<string, string>> = {
  'v1/ReplicationController': 'core/replicationcontrollers',
  'apps/v1/ReplicaSet': 'apps/replicasets',
  'apps/v1/StatefulSet': 'apps/statefulsets',
};
const REMEMBERED_MAX = 4_096;

export class OwnerObjects {
  /** By namespace and name: what the service selects; services without a selector are not here. */
  private readonly services = new Map<string, Map<string, ReadonlyMap<string, string>>>();
  /** By storage key, namespace and name: the LabelSelector object. */
  private readonly owners = new Map<string, JsonObject>();
  /** What was found, until any of them changes. */
  private readonly remembered = new Map<string, LabelSelector | undefined>();

  setService(namespace: string, name: string, object: JsonObject): void {
    this.remembered.clear();
    this.removeService(namespace, name);
    const selector = asTextMap(asObject(object.spec).selector);
    if (selector.size === 0) return;
    const services = this.services.get(namespace) ?? new Map<string, ReadonlyMap<string, string>>();
    services.set(name, selector);
    this.services.set(namespace, services);
  }

  removeService(namespace: string, name: string): void {
    this.remembered.clear();
    const services = this.services.get(namespace);
    services?.delete(name);
    if (services?.size === 0) this.services.delete(namespace);
  }

  setOwner(storageKey: string, namespace: string, name: string, object: JsonObject): void {
    const { selector } = asObject(object.spec);
    const id = `${storageKey}/${namespace}/${name}`;
    const read = storageKey === 'core/replicationcontrollers' ? { matchLabels: selector } : asObject(selector);
    if (JSON.stringify(this.owners.get(id)) === JSON.stringify(read)) return;
    this.remembered.clear();
    this.owners.set(id, read);
  }

  removeOwner(storageKey: string, namespace: string, name: string): void {
    if (this.owners.delete(`${storageKey}/${namespace}/${name}`)) this.remembered.clear();
  }

  /** The selectors of the services that select the pod, in the order of their names. */
  servicesOf(pod: PodInfo): readonly ReadonlyMap<string, string>[] {
    const services = this.services.get(pod.namespace);
    if (services === undefined) return [];
    const matching = [...services].filter(([, selector]) => selects(selector, pod));
    return matching.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, selector]) => selector);
  }

  /** What the services and the controller of a pod select, all at once; undefined when nobody selects anything. */
  selectorOf(pod: PodInfo): LabelSelector | undefined {
    const id = `${pod.namespace}\n${pod.owner?.kind ?? ''}\n${pod.owner?.name ?? ''}\n${pod.groupKey}`;
    if (this.remembered.has(id)) return this.remembered.get(id);
    const found = this.findSelector(pod);
    keep(this.remembered, REMEMBERED_MAX, id, found);
    return found;
  }

  private findSelector(pod: PodInfo): LabelSelector | undefined {
    const labels: Record<string, string> = {};
    for (const selector of this.servicesOf(pod)) for (const [key, value] of selector) labels[key] = value;
    const { kind = '', name = '' } = pod.owner ?? {};
    const storageKey = OWNER_KINDS[kind];
    const owner = storageKey === undefined ? {} : (this.owners.get(`${storageKey}/${pod.namespace}/${name}`) ?? {});
    const matchLabels = { ...asObject(owner.matchLabels), ...labels };
    const selector = readSelector({ ...owner, matchLabels });
    return selector.text === '' ? undefined : selector;
  }
}

function selects(selector: ReadonlyMap<string, string>, { labels }: PodInfo): boolean {
  for (const [key, value] of selector) if (labels[key] !== value) return false;
  return true;
}
