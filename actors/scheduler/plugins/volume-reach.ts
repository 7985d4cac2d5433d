// From where volumes can be reached: by what they say of nodes themselves. Where a node leaves disks of their kind to a CSI driver,
// the zone that they name is meant by the label that the driver gives its nodes. Pure.
import type { Dialect } from '../../../config/dialect.ts';
import { remembered } from '../../../values/remembered.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { Volume } from '../objects/volume-objects.ts';
import type { VolumeState } from '../objects/volume-state.ts';
import type { NodeTerm } from '../pods/node-terms.ts';
import { anyTermCheck, type NodeCheck } from './node-selector-terms.ts';
import { BUILT_IN, ZONE_SEPARATOR } from './volume-limits.ts';

const anywhere: NodeCheck = () => true;

/** Whether one of the terms lets a node in; without any, every node is. */
export function checkOf(terms: readonly NodeTerm[] | undefined): NodeCheck {
  return terms === undefined ? anywhere : anyTermCheck(terms);
}

const reachOf = remembered(({ nodeTerms }: Volume): NodeCheck => checkOf(nodeTerms));

/** Whether a volume can be reached from a node, as it says itself. */
export function reachable(volume: Volume, node: NodeInfo): boolean {
  return reachOf(volume)(node);
}

/** Whether a volume that somebody has can be reached from a node. */
export type Reach = (volume: Volume, node: NodeInfo, volumes: VolumeState) => boolean;

/** `migrated`: the kinds of built-in disks, by their provisioners, that a node may leave to a CSI driver. */
export function volumeReach(dialect: Dialect, migrated: readonly string[]): Reach {
  const generations = ['topology', 'failure-domain.beta'].map((prefix): Generation => {
    return { zone: dialect.spell(`${prefix}.@label/zone`), region: dialect.spell(`${prefix}.@label/region`) };
  });
  const kinds = new Map(
    BUILT_IN.filter(({ provisioner }) => migrated.includes(provisioner)).flatMap(({ kind, provisioner, zoneLabel }) => {
      if (zoneLabel === undefined) return [];
      const reach = remembered((volume: Volume) => checkOf(termsOfDriver(volume, zoneLabel, generations)));
      return [[kind, { provisioner: dialect.spell(`@label/${provisioner}`), reach }]];
    }),
  );
  return (volume, node, volumes) => {
    const ofKind = volume.disk === undefined ? undefined : kinds.get(volume.disk.kind);
    if (ofKind === undefined || !volumes.attachLimits(node.name).migrated.has(ofKind.provisioner))
      return reachable(volume, node);
    return ofKind.reach(volume)(node);
  };
}

/** The labels of zone and region: there are those of today, and those of before. */
interface Generation {
  readonly zone: string;
  readonly region: string;
}

/** What a volume says of nodes, with the driver's label for the zone. */
function termsOfDriver(volume: Volume, zoneLabel: string, generations: readonly Generation[]): Volume['nodeTerms'] {
  const { nodeTerms, labels } = volume;
  const named = (key: string): boolean => requirementsOf(nodeTerms).some((each) => each.key === key);
  const hasValues = (key: string): boolean =>
    requirementsOf(nodeTerms).some((each) => each.key === key && each.values.length > 0);
  if (hasValues(zoneLabel)) return nodeTerms;
  const spoken = [named, (key: string) => labels.has(key)].flatMap((speaksOf) =>
    generations.filter(({ zone, region }) => speaksOf(zone) || speaksOf(region)),
  );
  const { zone } = spoken[0] ?? generations[0]!;
  if (hasValues(zone)) return nodeTerms?.map((term) => renamed(term, zone, zoneLabel));
  const zones = (labels.get(zone) ?? '').split(ZONE_SEPARATOR).flatMap((each) => each.trim() || []);
  return zones.length === 0 ? nodeTerms : confined(nodeTerms, zoneLabel, zones);
}

function requirementsOf(terms: readonly NodeTerm[] = []) {
  return terms.flatMap(({ matchExpressions }) => matchExpressions);
}

function renamed({ matchExpressions, matchFields }: NodeTerm, from: string, to: string): NodeTerm {
  return {
    matchExpressions: matchExpressions.map((each) => (each.key === from ? { ...each, key: to } : each)),
    matchFields,
  };
}

/** The same terms, each of them for nodes with one of these values only. */
function confined(terms: readonly NodeTerm[] | undefined, key: string, values: readonly string[]): readonly NodeTerm[] {
  const { length } = terms ?? [];
  const all: readonly NodeTerm[] = length === 0 ? [{ matchExpressions: [], matchFields: [] }] : (terms ?? []);
  return all.map(({ matchExpressions, matchFields }) => ({
    matchExpressions: [...matchExpressions, { key, operator: 'In', values }],
    matchFields,
  }));
}
