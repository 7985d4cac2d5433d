// A core that writes down all that it is told and asked, and what it decides (entries.ts), while it does what any core does.
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { CoreOptions } from '../core/core-options.ts';
import type {
  BindingEnd,
  Decision,
  FailDecision,
  NodeAnswer,
  NodeQuestion,
  Question,
  VictimAnswer,
  VictimQuestion,
} from '../core/decision.ts';
import type { Explaining, NodeExplanation } from '../core/explanation.ts';
import { SchedulingCore } from '../core/scheduling-core.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { type Entry, outcomeOf, recordedAnswer, recordedPod, recordedVictims } from './entries.ts';

export class RecordingCore extends SchedulingCore {
  readonly #record: (entry: Entry) => void;
  /** A call of ours is under way: what it calls in turn is part of it. */
  #isWithin = false;

  constructor(options: CoreOptions, record: (entry: Entry) => void) {
    super(options);
    this.#record = record;
  }

  override setPod(object: JsonObject, nowMs: number): void {
    this.#told({ op: 'pod', at: nowMs, object: recordedPod(object) }, () => super.setPod(object, nowMs));
  }

  override removePod(namespace: string, name: string): void {
    this.#told({ op: 'podGone', namespace, name }, () => super.removePod(namespace, name));
  }

  override setNode(name: string, object: JsonObject): void {
    this.#told({ op: 'node', name, object }, () => super.setNode(name, object));
  }

  override removeNode(name: string): void {
    this.#told({ op: 'nodeGone', name }, () => super.removeNode(name));
  }

  override setObject(key: string, namespace: string, name: string, object: JsonObject): void {
    this.#told({ op: 'object', key, namespace, name, object }, () => super.setObject(key, namespace, name, object));
  }

  override removeObject(key: string, namespace: string, name: string): void {
    this.#told({ op: 'objectGone', key, namespace, name }, () => super.removeObject(key, namespace, name));
  }

  override beginList(): void {
    this.#told({ op: 'beginList' }, () => super.beginList());
  }

  override endList(): void {
    this.#told({ op: 'endList' }, () => super.endList());
  }

  override advance(nowMs: number): void {
    this.#told({ op: 'advance', at: nowMs }, () => super.advance(nowMs));
  }

  override explain(object: JsonObject): readonly NodeExplanation[] | undefined {
    return this.#told({ op: 'explain', object: recordedPod(object) }, () => super.explain(object));
  }

  override explainInTurns(explaining: Explaining): readonly NodeExplanation[] | undefined | 'unfinished' {
    const entry = { op: 'explain', object: recordedPod(explaining.object) } as const;
    return this.#told(entry, () => super.explainInTurns(explaining));
  }

  override hold(pod: PodInfo): void {
    this.#told({ op: 'hold', pod: pod.key, uid: pod.uid }, () => super.hold(pod));
  }

  override takeBackPromise(pod: PodInfo, at: number): void {
    this.#told({ op: 'takeBack', at, pod: pod.key, uid: pod.uid }, () => super.takeBackPromise(pod, at));
  }

  override settleBinding(pod: PodInfo, end: BindingEnd, at: number): void {
    const entry = { op: 'settle', at, pod: pod.key, uid: pod.uid, end: { ...end } } as const;
    this.#told(entry, () => super.settleBinding(pod, end, at));
  }

  override decide(nowMs: number): Decision | undefined;
  override decide(nowMs: number, mayAsk: boolean): Decision | Question | undefined;
  override decide(at: number, mayAsk = false): Decision | Question | undefined {
    const decision = super.decide(at, mayAsk);
    if (decision !== undefined) this.#record({ op: 'decide', at, mayAsk, gives: outcomeOf(decision) });
    // What it finds by then, and goes on with, depends on when it was asked.
    else if (this.seeksRoom) this.#record({ op: 'seek', at, mayAsk });
    return decision;
  }

  override answer(
    question: NodeQuestion,
    answer: NodeAnswer | Error,
    at: number,
  ): Decision | VictimQuestion | undefined {
    const given = super.answer(question, answer, at);
    const gives = given === undefined ? null : outcomeOf(given);
    this.#record({ op: 'answer', at, pod: question.pod.key, answer: recordedAnswer(answer), gives });
    return given;
  }

  override answerVictims(question: VictimQuestion, answer: VictimAnswer, at: number): FailDecision | undefined {
    const given = super.answerVictims(question, answer, at);
    const gives = given === undefined ? null : outcomeOf(given);
    this.#record({ op: 'answerVictims', at, pod: question.pod.key, answer: recordedVictims(answer), gives });
    return given;
  }

  #told<Result>(entry: Entry, call: () => Result): Result {
    if (this.#isWithin) return call();
    this.#record(entry);
    this.#isWithin = true;
    try {
      return call();
    } finally {
      this.#isWithin = false;
    }
  }
}
