// NodeResourcesFit: what the pod requests is still free on the node, and the node takes one pod more.

import type { FilterPlugin, PreparedFilter } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { ResourceAmounts } from '../pods/resource-amounts.ts';
import { refusal, type Status } from '../status.ts';

const HELPED_BY = ClusterEvent.nodeAdded | ClusterEvent.nodeAllocatable | ClusterEvent.podRemoved;
const EPHEMERAL_STORAGE = 8;
const REASONS = ['Too many pods', 'Insufficient cpu', 'Insufficient memory', 'Insufficient ephemeral-storage'] as const;

const ALL_REASONS = (1 << REASONS.length) - 1;

/** One refusal for each set of the four reasons, as bits. */
const REFUSALS: readonly Status[] = Array.from({ length: ALL_REASONS + 1 }, (_, bits) =>
  refusal('unschedulable', HELPED_BY, ...REASONS.filter((_reason, bit) => (bits & (1 << bit)) !== 0)),
);

export interface NodeResourcesFitArgs {
  /** Extended resources that something else, an extender say, looks after. */
  readonly ignoredResources: readonly string[];
  /** The same for all resources with one of these prefixes, without the slash. */
  readonly ignoredResourceGroups: readonly string[];
}

const NOTHING_IGNORED: NodeResourcesFitArgs = { ignoredResources: [], ignoredResourceGroups: [] };

/** `countsLocalStorage`: what is asked for of a node's local disk, too. */
export function nodeResourcesFit(
  args: NodeResourcesFitArgs = NOTHING_IGNORED,
  countsLocalStorage = true,
): FilterPlugin {
  const counted = countsLocalStorage ? ALL_REASONS : ALL_REASONS & ~EPHEMERAL_STORAGE;
  return {
    name: 'NodeResourcesFit',
    prepareFilter: ({ request }) =>
      filterFor(
        countsLocalStorage ? request : { ...request, ephemeralStorageBytes: 0 },
        heeded(request, args),
        counted,
      ),
  };
}

/** The extended resources among a request that count. */
function heeded(
  { scalars }: ResourceAmounts,
  { ignoredResources, ignoredResourceGroups }: NodeResourcesFitArgs,
): Scalars {
  const all = [...scalars];
  if (all.length === 0 || ignoredResources.length + ignoredResourceGroups.length === 0) return all;
  return all.filter(([name]) => {
    const slash = name.indexOf('/');
    // Nobody else looks after what has no group, which is huge pages.
    return slash < 0 || !(ignoredResources.includes(name) || ignoredResourceGroups.includes(name.slice(0, slash)));
  });
}

type Scalars = readonly (readonly [name: string, amount: number])[];

/** `counted`: the bits of the reasons that matter. */
function filterFor(request: ResourceAmounts, scalars: Scalars, counted: number): PreparedFilter {
  const { milliCpu, memoryBytes, ephemeralStorageBytes } = request;
  const amounts = `${milliCpu} ${memoryBytes} ${ephemeralStorageBytes}`;
  const ofNodeAlone = request.scalars.size === 0 ? amounts : `${amounts} + ${scalars.join(' ')}`;
  return { check: checkFor(request, scalars, counted), ofNodeAlone };
}

function checkFor(request: ResourceAmounts, scalars: Scalars, counted: number): PreparedFilter['check'] {
  const asksForNothing =
    request.milliCpu === 0 &&
    request.memoryBytes === 0 &&
    request.ephemeralStorageBytes === 0 &&
    request.scalars.size === 0;
  if (asksForNothing) return (node) => (tooManyPods(node) ? REFUSALS[1]! : null);
  if (scalars.length === 0) {
    return (node) => {
      const bits = shortOf(node, request) & counted;
      return bits === 0 ? null : REFUSALS[bits]!;
    };
  }
  return (node) => {
    const bits = shortOf(node, request) & counted;
    const short = scalars.filter(([name, amount]) => amount > freeScalar(node, name)).map(([name]) => name);
    if (short.length === 0) return bits === 0 ? null : REFUSALS[bits]!;
    return scalarRefusal(REFUSALS[bits]!, short);
  };
}

function tooManyPods(node: NodeInfo): boolean {
  return node.podCount + 1 > node.allocatable.pods;
}

/** The bits of REASONS that hold. A node that is short already refuses every pod that requests anything. */
function shortOf(node: NodeInfo, request: ResourceAmounts): number {
  const { allocatable } = node;
  let bits = tooManyPods(node) ? 1 : 0;
  if (request.milliCpu > allocatable.milliCpu - node.requestedMilliCpu) bits |= 2;
  if (request.memoryBytes > allocatable.memoryBytes - node.requestedMemoryBytes) bits |= 4;
  if (request.ephemeralStorageBytes > allocatable.ephemeralStorageBytes - node.requestedEphemeralStorageBytes)
    bits |= EPHEMERAL_STORAGE;
  return bits;
}

function freeScalar(node: NodeInfo, name: string): number {
  return (node.allocatable.scalars.get(name) ?? 0) - (node.requestedScalars.get(name) ?? 0);
}

function scalarRefusal(others: Status, names: readonly string[]): Status {
  return refusal('unschedulable', HELPED_BY, ...others.reasons, ...names.map((name) => `Insufficient ${name}`));
}
