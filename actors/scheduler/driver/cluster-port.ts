// What the scheduler does to the cluster, as a port. Two adapters stand behind it: admission-port.ts in this process,
// and one over HTTP for a scheduler of its own. What goes the other way (pods, nodes) are calls on SchedulingCore.
import { asObject, asText } from '../../../api/json/object-fields.ts';
import type { Binding } from '../../admission/protocol.ts';
import type { BindingEnd } from '../core/decision.ts';

/** What stands for the HTTP status code of a write that nobody answered. */
export const UNANSWERED = 0;
const HTTP_ERROR = 400;
const TOO_MANY = 429;
const SERVER_ERROR = 500;

export interface ClusterPort {
  /**
   * Binds pods to nodes, each on its own; the outcomes in the same order. Rejects with an OrchError when there is no
   * answer for the batch: `DeadlineExceeded` and `Cancelled` leave open what became of it.
   */
  bind(bindings: readonly Binding[]): Promise<readonly BindingEnd[]>;
  /** Merge-patches a pod's status. Answers the HTTP status code. */
  patchPodStatus(namespace: string, name: string, patch: object): Promise<number>;
  /** Merge-patches an object of core/v1; the namespace is empty for those without. Answers what the server has against it, if anything. */
  patchObject(resource: string, namespace: string, name: string, patch: object): Promise<string | undefined>;
  /** Deletes the pod of that uid, as gracefully as it asks for. Answers the HTTP status code. */
  deletePod(namespace: string, name: string, uid: string): Promise<number>;
  /** Creates an Event, given as v1 of the events' own group has it. Answers the HTTP status code. */
  createEvent(namespace: string, event: object): Promise<number>;
  /** Merge-patches such an Event. Answers the HTTP status code. */
  patchEvent(namespace: string, name: string, patch: object): Promise<number>;
}

/** What the server says in an answer that refuses; undefined for one that does not. */
export function refusalIn(code: number, answer: unknown): string | undefined {
  if (code < HTTP_ERROR) return undefined;
  return asText(asObject(answer).message) || `the server answered ${code}`;
}

/** Whether an answer, or none, says nothing about the write: another time it may succeed. */
export function isTrouble(code: number): boolean {
  return code === UNANSWERED || code === TOO_MANY || code >= SERVER_ERROR;
}
