// The lines of a record of scheduling: all that a core is told and asked, and what it decides. Whoever tells another core the same,
// under the same seed and configuration, gets the same decisions. Pure.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asObject } from '../../../api/json/object-fields.ts';
import type { Decision, NodeAnswer, Question, VictimAnswer } from '../core/decision.ts';
import type { SchedulerGates } from '../framework/gates.ts';
import type { Status } from '../status.ts';

export const RECORD_FORMAT = 1;

/** The first line. */
export interface RecordHeader {
  readonly schedulingRecord: typeof RECORD_FORMAT;
  readonly dialect: string;
  readonly seed: number;
  /** As a file has it, without whom it speaks with. */
  readonly configuration: JsonObject;
  readonly gates: SchedulerGates;
}

/** What a decision comes to, in names. */
export interface Outcome {
  readonly kind: Decision['kind'] | Question['kind'];
  /** `<namespace>/<name>`. */
  readonly pod: string;
  readonly uid: string;
  readonly node?: string;
  readonly message?: string;
  readonly preempts?: { readonly node: string; readonly victims: readonly string[] };
  /** Of a question: where it may go, or where room could be made. */
  readonly nodes?: readonly string[];
}

export interface RecordedAnswer {
  readonly kept: readonly string[];
  readonly rejections: readonly (readonly [node: string, status: Status])[];
  readonly scores: readonly (readonly [node: string, score: number])[];
}

export type RecordedVictims = readonly (readonly [node: string, victims: readonly string[], violations: number])[];

export type Entry =
  | { readonly op: 'pod'; readonly at: number; readonly object: JsonObject }
  | { readonly op: 'node'; readonly name: string; readonly object: JsonObject }
  | {
      readonly op: 'object';
      readonly key: string;
      readonly namespace: string;
      readonly name: string;
      readonly object: JsonObject;
    }
  | { readonly op: 'podGone'; readonly namespace: string; readonly name: string }
  | { readonly op: 'nodeGone'; readonly name: string }
  | { readonly op: 'objectGone'; readonly key: string; readonly namespace: string; readonly name: string }
  | { readonly op: 'beginList' | 'endList' }
  | { readonly op: 'explain'; readonly object: JsonObject }
  | { readonly op: 'advance'; readonly at: number }
  | { readonly op: 'decide'; readonly at: number; readonly mayAsk: boolean; readonly gives: Outcome }
  /** It was to decide, and where room could be made was still being looked for. */
  | { readonly op: 'seek'; readonly at: number; readonly mayAsk: boolean }
  | {
      readonly op: 'answer';
      readonly at: number;
      readonly pod: string;
      readonly answer: RecordedAnswer | { readonly error: string };
      readonly gives: Outcome | null;
    }
  | {
      readonly op: 'answerVictims';
      readonly at: number;
      readonly pod: string;
      readonly answer: RecordedVictims | null;
      readonly gives: Outcome | null;
    }
  | { readonly op: 'hold'; readonly pod: string; readonly uid: string }
  | { readonly op: 'takeBack'; readonly at: number; readonly pod: string; readonly uid: string }
  | {
      readonly op: 'settle';
      readonly at: number;
      readonly pod: string;
      readonly uid: string;
      readonly end: JsonObject;
    };

export function outcomeOf(decision: Decision | Question): Outcome {
  const { kind, pod } = decision;
  const named = { kind, pod: pod.key, uid: pod.uid };
  switch (decision.kind) {
    case 'bind':
      return { ...named, node: decision.node.name };
    case 'nodes':
      return { ...named, nodes: decision.feasible.map(({ name }) => name) };
    case 'victims':
      return { ...named, nodes: decision.offer.candidates.map(({ node }) => node.name) };
    default: {
      const { message, preemption } = decision;
      const preempts = preemption && { node: preemption.node, victims: preemption.victims.map(({ key }) => key) };
      return { ...named, message, ...(preempts === undefined ? {} : { preempts }) };
    }
  }
}

export function recordedAnswer(answer: NodeAnswer | Error): RecordedAnswer | { readonly error: string } {
  if (answer instanceof Error) return { error: answer.message };
  return {
    kept: answer.kept.map(({ name }) => name),
    rejections: answer.rejections.map(({ node, status }) => [node.name, status]),
    scores: [...answer.scores],
  };
}

export function recordedVictims(answer: VictimAnswer): RecordedVictims | null {
  return (
    answer?.map(({ node, victims, violations }) => [node.name, victims.map(({ key }) => key), violations] as const) ??
    null
  );
}

/** What a container says about where its pod goes. Whatever else it says may hold what is nobody's business: probes and hooks, too, have commands. */
const RECORDED_OF_CONTAINERS: ReadonlySet<string> = new Set(['name', 'image', 'resources', 'ports']);

/** A pod without what says nothing about where it goes, and may be nobody's business. */
export function recordedPod(object: JsonObject): JsonObject {
  const metadata = asObject(object.metadata);
  const { managedFields: _, annotations, ...kept } = metadata;
  const { ephemeralContainers: __, ...spec } = asObject(object.spec);
  return {
    ...object,
    metadata: {
      ...kept,
      ...(annotations === undefined ? {} : { annotations: shortAnnotations(asObject(annotations)) }),
    },
    spec: { ...spec, ...withoutSecrets(spec, 'containers'), ...withoutSecrets(spec, 'initContainers') },
  };
}

/** What `apply` of a client keeps is the whole object once more. */
function shortAnnotations(annotations: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name]) => !name.endsWith('/last-applied-configuration')),
  );
}

function withoutSecrets(spec: JsonObject, member: string): JsonObject {
  if (spec[member] === undefined) return {};
  const containers = asList(spec[member]).map((container) =>
    Object.fromEntries(Object.entries(asObject(container)).filter(([name]) => RECORDED_OF_CONTAINERS.has(name))),
  );
  return { [member]: containers };
}
