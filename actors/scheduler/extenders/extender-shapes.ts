// What is said to an extender and what it answers, as JSON (extender/v1). Members are written as Go spells them and read whatever
// their case, as Go does. Pure. What an answer holds is checked here; whether it fits the question is http-extender.ts's business.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { PreemptionCandidate } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';

/** A reason is shown to users beside others. */
const REASON_LENGTH_MAX = 256;

/** Why an answer cannot be used. */
export class BadAnswer extends Error {}

/** The answer tells of an error, in the words of whoever answered. */
export class ToldError extends BadAnswer {}

export interface FilterAnswer {
  /** Undefined: the answer names no nodes in this way. */
  readonly nodeNames: readonly string[] | undefined;
  readonly nodes: readonly string[] | undefined;
  /** Reasons by node. */
  readonly failed: ReadonlyMap<string, string>;
  /** The same, where no eviction could help. */
  readonly unresolvable: ReadonlyMap<string, string>;
}

/** Those to evict from a node, by their uids. */
export interface VictimUids {
  readonly uids: readonly string[];
  readonly violations: number;
}

/** About filters and priorities. `byName`: the extender knows the nodes. */
export function nodeArgs(pod: PodInfo, nodes: readonly NodeInfo[], byName: boolean): object {
  return {
    Pod: pod.object ?? null,
    Nodes: byName ? null : { metadata: {}, items: nodes.map(({ object }) => object ?? {}) },
    NodeNames: byName ? nodes.map(({ name }) => name) : null,
  };
}

export function victimArgs(pod: PodInfo, candidates: readonly PreemptionCandidate[], byName: boolean): object {
  const victims = Object.fromEntries(
    candidates.map((each) => [
      each.node.name,
      {
        Pods: each.victims.map((victim) => (byName ? { UID: victim.uid } : (victim.object ?? null))),
        NumPDBViolations: each.violations,
      },
    ]),
  );
  return {
    Pod: pod.object ?? null,
    NodeNameToVictims: byName ? null : victims,
    NodeNameToMetaVictims: byName ? victims : null,
  };
}

export function bindingArgs({ name, namespace, uid }: PodInfo, node: string): object {
  return { PodName: name, PodNamespace: namespace, PodUID: uid, Node: node };
}

/** Throws BadAnswer, also where the answer tells of an error. */
export function readFilterAnswer(value: unknown): FilterAnswer {
  const answer = objectOf(value);
  refuseError(answer);
  const nodes = member(answer, 'Nodes');
  const names = member(answer, 'NodeNames');
  return {
    nodes: nodes === undefined ? undefined : listOf(member(objectOf(nodes), 'items')).map(nameOf),
    nodeNames: names === undefined ? undefined : listOf(names).map(textOf),
    failed: reasonsOf(member(answer, 'FailedNodes')),
    unresolvable: reasonsOf(member(answer, 'FailedAndUnresolvableNodes')),
  };
}

/** Scores by node. Throws BadAnswer. */
export function readPriorities(value: unknown): ReadonlyMap<string, number> {
  if (!Array.isArray(value)) throw new BadAnswer('the answer is no list of priorities');
  return new Map(
    value.map((entry) => {
      const priority = objectOf(entry);
      const score = member(priority, 'Score') ?? 0;
      if (!Number.isSafeInteger(score)) throw new BadAnswer('a score is no whole number');
      return [textOf(member(priority, 'Host')), score as number];
    }),
  );
}

/** By node. Throws BadAnswer. */
export function readVictims(value: unknown): ReadonlyMap<string, VictimUids> {
  const victims = objectOf(member(objectOf(value), 'NodeNameToMetaVictims') ?? {});
  return new Map(
    Object.entries(victims).map(([node, entry]) => {
      const violations = member(objectOf(entry), 'NumPDBViolations') ?? 0;
      if (!Number.isSafeInteger(violations)) throw new BadAnswer('a number of violations is no whole number');
      const uids = listOf(member(objectOf(entry), 'Pods')).map((pod) => textOf(member(objectOf(pod), 'UID')));
      return [node, { uids, violations: violations as number }];
    }),
  );
}

/** Throws BadAnswer where the answer tells of an error. */
export function readBindingAnswer(value: unknown): void {
  refuseError(objectOf(value));
}

function refuseError(answer: JsonObject): void {
  const error = textOf(member(answer, 'Error'));
  if (error !== '') throw new ToldError(shortened(error));
}

function objectOf(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw misshapen();
  return value as JsonObject;
}

// A member that is absent or null is empty, as in Go. One of another type says nothing, and must not be taken for "no node".
function listOf(value: unknown): readonly unknown[] {
  if (value !== undefined && !Array.isArray(value)) throw misshapen();
  return value ?? [];
}

function textOf(value: unknown): string {
  if (value !== undefined && value !== null && typeof value !== 'string') throw misshapen();
  return value ?? '';
}

function misshapen(): BadAnswer {
  return new BadAnswer('the answer is not of the shape it must have');
}

/** Undefined where it is absent or null. */
function member(object: JsonObject, name: string): unknown {
  const lowered = name.toLowerCase();
  const key = name in object ? name : Object.keys(object).find((each) => each.toLowerCase() === lowered);
  return key === undefined ? undefined : (object[key] ?? undefined);
}

const nameOf = (node: unknown): string => asText(asObject(asObject(node).metadata).name);

function reasonsOf(value: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(objectOf(value ?? {})).map(([node, reason]) => [node, shortened(textOf(reason))]));
}

function shortened(text: string): string {
  return text.length > REASON_LENGTH_MAX ? `${text.slice(0, REASON_LENGTH_MAX)}...` : text;
}
