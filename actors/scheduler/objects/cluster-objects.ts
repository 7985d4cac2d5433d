// What the scheduler knows of the cluster beside pods and nodes, fed one object at a time: a table of what is followed and
// whom it is told to. Pure.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asObject, asTextMap } from '../../../api/json/object-fields.ts';
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { readToleration, type Toleration } from '../pods/pod-info.ts';
import { BudgetObjects } from './budget-objects.ts';
import { ClusterEvent } from './cluster-event.ts';
import { OwnerObjects } from './owner-objects.ts';
import { volumeNames } from './volume-objects.ts';
import { VolumeState } from './volume-state.ts';

/** How objects of one type are taken over. */
interface Taker {
  readonly set: (namespace: string, name: string, object: JsonObject) => void;
  readonly remove: (namespace: string, name: string) => void;
  /** What a new or changed object may mean for pods that wait; for one that went, `removed`. */
  readonly events: number;
  readonly removed?: number;
}

/** What a runtime class adds to its pods when they are admitted. */
export interface RuntimeClass {
  readonly nodeSelector: ReadonlyMap<string, string>;
  readonly tolerations: readonly Toleration[];
  readonly overhead: boolean;
}

export class ClusterObjects {
  readonly owners = new OwnerObjects();
  readonly budgets = new BudgetObjects();
  readonly volumes: VolumeState;
  readonly runtimeClasses = new Map<string, RuntimeClass>();
  private readonly namespaces = new Map<string, Labels>();
  private readonly onNamespace: () => void;
  private readonly takers: ReadonlyMap<string, Taker>;
  /** By storage key: namespace and name of every object there is. */
  private readonly known = new Map<string, Set<string>>();

  /** `onNamespace` is called when the labels of a namespace change. */
  constructor(dialect: Dialect, onNamespace: () => void) {
    this.volumes = new VolumeState(volumeNames(dialect));
    this.onNamespace = onNamespace;
    this.takers = new Map([...this.ownerTakers(), ...this.volumeTakers(dialect), ...this.otherTakers(dialect)]);
  }

  /** The types that are followed, as ResourceType.storageKey. */
  get storageKeys(): readonly string[] {
    return [...this.takers.keys()];
  }

  readonly labelsOfNamespace = (name: string): Labels | undefined => this.namespaces.get(name);

  /** An object is in this state now. Answers which ClusterEvents that means. */
  set(storageKey: string, namespace: string, name: string, object: JsonObject): number {
    const taker = this.takers.get(storageKey);
    if (taker === undefined) return 0;
    this.knownOf(storageKey).add(`${namespace}/${name}`);
    taker.set(namespace, name, object);
    return taker.events;
  }

  /** An object exists no more. Answers which ClusterEvents that means. */
  remove(storageKey: string, namespace: string, name: string): number {
    const taker = this.takers.get(storageKey);
    if (taker === undefined) return 0;
    this.knownOf(storageKey).delete(`${namespace}/${name}`);
    taker.remove(namespace, name);
    return taker.removed ?? 0;
  }

  /** Removes what a complete list did not hold. `listed` answers whether it held an object. */
  removeUnless(listed: (storageKey: string, namespace: string, name: string) => boolean): number {
    let events = 0;
    for (const [storageKey, known] of this.known) {
      for (const path of [...known]) {
        const slash = path.indexOf('/');
        const [namespace, name] = [path.slice(0, slash), path.slice(slash + 1)];
        if (!listed(storageKey, namespace, name)) events |= this.remove(storageKey, namespace, name);
      }
    }
    return events;
  }

  private knownOf(storageKey: string): Set<string> {
    let known = this.known.get(storageKey);
    if (known === undefined) {
      known = new Set();
      this.known.set(storageKey, known);
    }
    return known;
  }

  private ownerTakers(): [string, Taker][] {
    const { owners } = this;
    const ownerKeys = ['core/replicationcontrollers', 'apps/replicasets', 'apps/statefulsets'];
    const services: Taker = {
      set: (namespace, name, object) => owners.setService(namespace, name, object),
      remove: (namespace, name) => owners.removeService(namespace, name),
      events: ClusterEvent.services,
      removed: ClusterEvent.services,
    };
    const ownerTaker = (key: string): Taker => ({
      set: (namespace, name, object) => owners.setOwner(key, namespace, name, object),
      remove: (namespace, name) => owners.removeOwner(key, namespace, name),
      events: 0,
    });
    return [['core/services', services], ...ownerKeys.map((key): [string, Taker] => [key, ownerTaker(key)])];
  }

  private volumeTakers(dialect: Dialect): [string, Taker][] {
    const { volumes } = this;
    const storage = (plural: string) => dialect.spell(`storage.@group/${plural}`);
    const events = ClusterEvent.volumes;
    return [
      [
        'core/persistentvolumes',
        {
          set: (_, name, object) => volumes.setVolume(name, object),
          remove: (_, name) => volumes.removeVolume(name),
          events,
        },
      ],
      [
        'core/persistentvolumeclaims',
        {
          set: (namespace, name, object) => volumes.setClaim(namespace, name, object),
          remove: (namespace, name) => volumes.removeClaim(namespace, name),
          events,
        },
      ],
      [
        storage('storageclasses'),
        {
          set: (_, name, object) => volumes.setClass(name, object),
          remove: (_, name) => void volumes.classes.delete(name),
          events,
        },
      ],
      [
        storage('csinodes'),
        {
          set: (_, name, object) => volumes.setLimits(name, object),
          remove: (_, name) => volumes.removeLimits(name),
          events: ClusterEvent.attachLimits,
        },
      ],
      [
        storage('csidrivers'),
        {
          set: (_, name, object) => {
            if (asObject(object.spec).storageCapacity === true) volumes.driversWithCapacity.add(name);
            else volumes.driversWithCapacity.delete(name);
          },
          remove: (_, name) => void volumes.driversWithCapacity.delete(name),
          events,
          removed: events,
        },
      ],
      [
        storage('csistoragecapacities'),
        {
          set: (namespace, name, object) => volumes.setCapacity(namespace, name, object),
          remove: (namespace, name) => volumes.removeCapacity(namespace, name),
          events,
        },
      ],
    ];
  }

  private otherTakers(dialect: Dialect): [string, Taker][] {
    const { budgets, namespaces, runtimeClasses } = this;
    const setLabels = (name: string, labels: Labels | undefined) => {
      if (labels === undefined) namespaces.delete(name);
      else namespaces.set(name, labels);
      this.onNamespace();
    };
    return [
      [
        'policy/poddisruptionbudgets',
        {
          set: (namespace, name, object) => budgets.set(namespace, name, object),
          remove: (namespace, name) => budgets.remove(namespace, name),
          events: 0,
        },
      ],
      [
        dialect.spell('node.@group/runtimeclasses'),
        {
          set: (_, name, object) => void runtimeClasses.set(name, readRuntimeClass(object)),
          remove: (_, name) => void runtimeClasses.delete(name),
          events: ClusterEvent.runtimeClasses,
        },
      ],
      [
        'core/namespaces',
        {
          set: (_, name, object) => {
            const labels = asObject(asObject(object.metadata).labels) as Labels;
            if (JSON.stringify(labels) !== JSON.stringify(namespaces.get(name))) setLabels(name, labels);
          },
          remove: (_, name) => setLabels(name, undefined),
          events: ClusterEvent.namespaceLabels,
          removed: ClusterEvent.namespaceLabels,
        },
      ],
    ];
  }
}

function readRuntimeClass(object: JsonObject): RuntimeClass {
  const scheduling = asObject(object.scheduling);
  return {
    nodeSelector: asTextMap(scheduling.nodeSelector),
    tolerations: asList(scheduling.tolerations).map(readToleration),
    overhead: Object.keys(asObject(asObject(object.overhead).podFixed)).length > 0,
  };
}
