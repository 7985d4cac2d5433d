// What an object of any type counts for in a quota, and which names of a quota are its type's. Pure.
import type { Dialect } from '../../config/dialect.ts';
import type { Quantity } from '../../values/quantity.ts';
import type { JsonObject } from '../json/json-value.ts';
import { partAt, partsAt, setNumberAt, textAt } from '../json/object-fields.ts';
import { type Amounts, amountsOf, pieces } from './amounts.ts';
import { isOfPods, podUsage } from './pods.ts';

/** A type, as quotas name it: `deployments` of `apps`. */
export interface CountedType {
  readonly group: string;
  readonly plural: string;
}

/** Types of the core group that a quota may name without `count/`. */
const PLAIN_NAMES: ReadonlySet<string> = new Set([
  'configmaps',
  'resourcequotas',
  'replicationcontrollers',
  'secrets',
  'services',
  'persistentvolumeclaims',
]);

/** `count/pods`, `count/deployments.apps`. */
export function countName({ group, plural }: CountedType): string {
  return group === '' ? `count/${plural}` : `count/${plural}.${group}`;
}

/** Events are too many to be counted. */
export function isCounted({ plural }: CountedType): boolean {
  return plural !== 'events';
}

/** The objects whose usage is more than that they are there. */
export function isMeasured({ group, plural }: CountedType): boolean {
  return group === '' && (plural === 'pods' || plural === 'services' || plural === 'persistentvolumeclaims');
}

/** Of the names that a quota limits, those that objects of a type count for. */
export function namesOf(type: CountedType, limited: readonly string[], dialect: Dialect): readonly string[] {
  const own = countName(type);
  if (type.group !== '') return limited.filter((name) => name === own);
  const { plural } = type;
  return limited.filter((name) => {
    if (name === own) return true;
    if (plural === 'pods') return isOfPods(name, dialect);
    if (PLAIN_NAMES.has(plural) && name === plural) return true;
    if (plural === 'services') return name === 'services.nodeports' || name === 'services.loadbalancers';
    return plural === 'persistentvolumeclaims' && isOfClaims(name, dialect);
  });
}

function classSuffix(dialect: Dialect): string {
  return dialect.spell('.storageclass.storage.@group/');
}

function isOfClaims(name: string, dialect: Dialect): boolean {
  const suffix = classSuffix(dialect);
  return (
    name === 'requests.storage' ||
    name.endsWith(`${suffix}requests.storage`) ||
    name.endsWith(`${suffix}persistentvolumeclaims`)
  );
}

/** What a stored object counts for. */
export function usageOf(type: CountedType, object: JsonObject, dialect: Dialect, nowMs: number): Amounts {
  if (!isMeasured(type)) return pieceUsage(type);
  if (type.plural === 'pods') return podUsage(object, dialect, nowMs);
  return { ...pieceUsage(type), ...(type.plural === 'services' ? serviceUsage(object) : claimUsage(object, dialect)) };
}

/** What each object of a type counts for, whatever it is like. */
export function pieceUsage(type: CountedType, count = 1): Amounts {
  const amount = pieces(count);
  const isPlain = type.group === '' && PLAIN_NAMES.has(type.plural);
  return { [countName(type)]: amount, ...(isPlain && { [type.plural]: amount }) };
}

function serviceUsage(service: JsonObject): Amounts {
  const spec = partAt(service, 'spec');
  const type = textAt(spec, 'type');
  const ports = partsAt(spec, 'ports');
  const hasOnlyNamed = type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false;
  const nodePorts = hasOnlyNamed ? ports.filter((port) => (setNumberAt(port, 'nodePort') ?? 0) !== 0) : ports;
  const isReached = type === 'NodePort' || type === 'LoadBalancer';
  return {
    'services.nodeports': pieces(isReached ? nodePorts.length : 0),
    'services.loadbalancers': pieces(type === 'LoadBalancer' ? 1 : 0),
  };
}

function claimUsage(claim: JsonObject, dialect: Dialect): Amounts {
  const spec = partAt(claim, 'spec');
  const annotations = partAt(partAt(claim, 'metadata'), 'annotations');
  const className =
    textAt(annotations, dialect.spell('volume.beta.@label/storage-class')) || textAt(spec, 'storageClassName');
  const { storage } = amountsOf(partAt(partAt(spec, 'resources'), 'requests'));
  const usage: Record<string, Quantity> = {};
  if (storage !== undefined) usage['requests.storage'] = storage;
  if (className === '') return usage;
  usage[`${className}${classSuffix(dialect)}persistentvolumeclaims`] = pieces(1);
  if (storage !== undefined) usage[`${className}${classSuffix(dialect)}requests.storage`] = storage;
  return usage;
}
