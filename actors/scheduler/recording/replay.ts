// Tells a core what another was told, and compares what it decides with what the other did. No files and no clock: entries come in
// one by one.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject, asText } from '../../../api/json/object-fields.ts';
import { unreachable } from '../../../runtime/unreachable.ts';
import type { BindingEnd, Decision, NodeAnswer, NodeQuestion, Question, VictimQuestion } from '../core/decision.ts';
import type { NodeExplanation } from '../core/explanation.ts';
import type { SchedulingCore } from '../core/scheduling-core.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import { type PodInfo, podKey } from '../pods/pod-info.ts';
import { type Entry, type Outcome, outcomeOf, type RecordedAnswer, type RecordedVictims } from './entries.ts';

type Consequence = Extract<Entry, { readonly op: 'hold' | 'takeBack' | 'settle' }>;
type AnswerEntry = Extract<Entry, { readonly op: 'answer' | 'answerVictims' }>;
type News = Exclude<Entry, Consequence | AnswerEntry | { readonly op: 'decide' | 'seek' }>;

/** Differences that are kept; the others are counted. */
const DIFFERENCES_MAX = 10;

export interface Difference {
  readonly entry: number;
  readonly recorded: Outcome | null;
  readonly replayed: Outcome | null;
}

/** A decision about the pod that is watched. `nodes`: what was said about it before. */
export interface Trace {
  readonly at: number;
  readonly outcome: Outcome;
  readonly nodes: readonly NodeExplanation[];
}

export class Replay {
  entries = 0;
  decisions = 0;
  bound = 0;
  differing = 0;
  readonly differences: Difference[] = [];
  readonly #core: SchedulingCore;
  readonly #watched: string | undefined;
  readonly #onTrace: (trace: Trace) => void;
  /** The object of the watched pod as it was last told of. */
  #seen: JsonObject | undefined;
  /** What each pod's last decision was about. */
  readonly #pods = new Map<string, PodInfo>();
  readonly #questions = new Map<string, Question>();

  /** `watched`: `<namespace>/<name>` of a pod whose decisions are traced. */
  constructor(core: SchedulingCore, watched?: string, onTrace: (trace: Trace) => void = () => {}) {
    this.#core = core;
    this.#watched = watched;
    this.#onTrace = onTrace;
  }

  apply(entry: Entry): void {
    this.entries++;
    switch (entry.op) {
      case 'decide':
        this.#decide(entry.at, entry.mayAsk, entry.gives);
        break;
      case 'seek':
        this.#seek(entry.at, entry.mayAsk);
        break;
      case 'answer':
      case 'answerVictims':
        this.#answer(entry);
        break;
      case 'hold':
      case 'takeBack':
      case 'settle':
        this.#follow(entry);
        break;
      default:
        if (entry.op === 'pod') this.#look(entry.object);
        if (entry.op === 'podGone') this.#forget(podKey(entry.namespace, entry.name));
        tell(this.#core, entry);
    }
  }

  /** What comes of a decision. Where another was made here, it is about nothing. */
  #follow(entry: Consequence): void {
    const pod = this.#pods.get(entry.pod);
    if (pod === undefined || pod.uid !== entry.uid) return;
    if (entry.op === 'hold') this.#core.hold(pod);
    else if (entry.op === 'takeBack') this.#core.takeBackPromise(pod, entry.at);
    else this.#core.settleBinding(pod, entry.end as unknown as BindingEnd, entry.at);
  }

  #decide(at: number, mayAsk: boolean, recorded: Outcome): void {
    const isWatched = recorded.pod === this.#watched && this.#seen !== undefined;
    const nodes = isWatched ? (this.#core.explain(this.#seen!) ?? []) : [];
    const made = this.#made(at, mayAsk);
    this.#compare(made, recorded);
    if (isWatched) this.#onTrace({ at, outcome: recorded, nodes });
  }

  #made(at: number, mayAsk: boolean): Decision | Question | undefined {
    const { topology } = this.#core.cluster;
    let made = this.#core.decide(at, mayAsk);
    // What is recorded is what came of it in the end, after as many turns as the counting took.
    while (made === undefined && topology.isCounting) {
      topology.countOn();
      made = this.#core.decide(at, mayAsk);
    }
    return made;
  }

  #seek(at: number, mayAsk: boolean): void {
    const made = this.#made(at, mayAsk);
    if (made !== undefined) this.#compare(made, null);
  }

  #answer(entry: AnswerEntry): void {
    const question = this.#questions.get(entry.pod);
    this.#questions.delete(entry.pod);
    const { at, gives } = entry;
    if (entry.op === 'answer' && question?.kind === 'nodes') {
      this.#compare(this.#core.answer(question, this.#nodeAnswer(question, entry.answer), at), gives);
    } else if (entry.op === 'answerVictims' && question?.kind === 'victims') {
      this.#compare(this.#core.answerVictims(question, victimAnswer(question, entry.answer), at), gives);
    } else this.#compare(undefined, gives);
    if (gives?.pod === this.#watched && gives !== null) this.#onTrace({ at, outcome: gives, nodes: [] });
  }

  #nodeAnswer({ feasible }: NodeQuestion, answer: RecordedAnswer | { readonly error: string }): NodeAnswer | Error {
    if ('error' in answer) return new Error(answer.error);
    const byName = new Map(feasible.map((node) => [node.name, node]));
    const known = (name: string): NodeInfo[] => [byName.get(name) ?? []].flat();
    return {
      kept: answer.kept.flatMap(known),
      rejections: answer.rejections.flatMap(([name, status]) => known(name).map((node) => ({ node, status }))),
      scores: new Map(answer.scores),
    };
  }

  #compare(made: Decision | Question | undefined, recorded: Outcome | null): void {
    if (made?.kind === 'nodes' || made?.kind === 'victims') this.#questions.set(made.pod.key, made);
    else this.decisions++;
    if (made !== undefined) this.#pods.set(made.pod.key, made.pod);
    if (made?.kind === 'bind') this.bound++;
    const replayed = made === undefined ? null : outcomeOf(made);
    if (JSON.stringify(replayed) === JSON.stringify(recorded)) return;
    this.differing++;
    if (this.differences.length < DIFFERENCES_MAX) this.differences.push({ entry: this.entries, recorded, replayed });
  }

  #look(object: JsonObject): void {
    const { namespace, name } = asObject(object.metadata);
    if (podKey(asText(namespace), asText(name)) === this.#watched) this.#seen = object;
  }

  #forget(key: string): void {
    if (key === this.#watched) this.#seen = undefined;
  }
}

function tell(core: SchedulingCore, entry: News): void {
  switch (entry.op) {
    case 'pod':
      core.setPod(entry.object, entry.at);
      break;
    case 'podGone':
      core.removePod(entry.namespace, entry.name);
      break;
    case 'node':
      core.setNode(entry.name, entry.object);
      break;
    case 'nodeGone':
      core.removeNode(entry.name);
      break;
    case 'object':
      core.setObject(entry.key, entry.namespace, entry.name, entry.object);
      break;
    case 'objectGone':
      core.removeObject(entry.key, entry.namespace, entry.name);
      break;
    case 'beginList':
      core.beginList();
      break;
    case 'endList':
      core.endList();
      break;
    case 'explain':
      core.explain(entry.object);
      break;
    case 'advance':
      core.advance(entry.at);
      break;
    default:
      unreachable(entry);
  }
}

function victimAnswer({ offer }: VictimQuestion, answer: RecordedVictims | null) {
  return answer?.flatMap(([name, keys, violations]) => {
    const candidate = offer.candidates.find(({ node }) => node.name === name);
    if (candidate === undefined) return [];
    return [{ node: candidate.node, victims: candidate.victims.filter(({ key }) => keys.includes(key)), violations }];
  });
}
