// A plug-in of the operator's own, as the scheduler calls it. It and what it answers may be objects of classes, whose methods are called as
// such. Each is held to answering at once: nobody would wait for a promise, and one that is rejected with nobody listening ends the thread.

import { messageOf } from '../../../runtime/errors.ts';
import type {
  FilterPlugin,
  NodeFilter,
  Normalize,
  OwnBinding,
  PermitWait,
  PreBindWork,
  ScorePlugin,
} from '../framework/framework.ts';
import type { AnyPlugin } from '../profiles/plugin-table.ts';
import type { Status } from '../status.ts';

type Method = Exclude<keyof AnyPlugin, 'name'>;
type Answer = (status: Status | null) => void;

/** What each method's answer is looked at for. */
const METHODS: Readonly<Record<Method, (answer: unknown, who: string) => unknown>> = {
  before: atOnce,
  prepareFilter: (answer, who) => filterAtOnce(atOnce(answer, who), who),
  postFilter: atOnce,
  prepareScore: (answer, who) => scorerAtOnce(atOnce(answer, who), who),
  reserve: atOnce,
  unreserve: unheard,
  settled: unheard,
  permit: (answer, who) => permitAnswered(atOnce(answer, who), who),
  preBind: (answer, who) => workAtOnce(atOnce(answer, who), who),
  bind: (answer, who) => bindingAnswered(atOnce(answer, who)),
  postBind: unheard,
};

/** `made`: what the operator's function has made, with whatever else it has. */
export function ownPlugin(name: string, made: object): AnyPlugin {
  const methods = Object.entries(METHODS).flatMap(([method, look]) => {
    const call: unknown = Reflect.get(Object(made), method);
    if (typeof call !== 'function') return [];
    const who = `the plug-in ${name} answered ${method}`;
    return [[method, (...given: readonly unknown[]) => look(Reflect.apply(call, made, given), who)] as const];
  });
  return { ...Object.fromEntries(methods), name };
}

/** Nothing is as good as null. Throws an Error that says who answers with a promise. */
function atOnce<Value>(answer: Value, who: string): Value | null {
  if (!(answer instanceof Promise)) return answer ?? null;
  unheard(answer);
  throw new Error(`${who} with a promise, and must answer at once`);
}

/** For what nobody waits for. */
function unheard(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => {});
}

function filterAtOnce(answer: unknown, who: string): unknown {
  const prepared = answer as ReturnType<FilterPlugin['prepareFilter']>;
  if (typeof prepared === 'function') return (...[node]: Parameters<typeof prepared>) => atOnce(prepared(node), who);
  if (prepared === null || !('check' in prepared)) return prepared;
  const { only, ofNodeAlone } = prepared;
  return {
    only,
    ofNodeAlone,
    check: (...[node]: Parameters<NodeFilter>) => atOnce(prepared.check(node), who),
    change: prepared.change?.bind(prepared),
    reset: prepared.reset?.bind(prepared),
  };
}

function scorerAtOnce(answer: unknown, who: string): unknown {
  const scorer = answer as ReturnType<ScorePlugin['prepareScore']>;
  if (scorer === null) return null;
  const { normalize, ofNodeAlone } = scorer;
  return {
    ofNodeAlone,
    score: (...[node]: Parameters<typeof scorer.score>) => atOnce(scorer.score(node), who),
    normalize:
      typeof normalize !== 'function'
        ? normalize
        : (...scored: Parameters<Normalize>) => atOnce(normalize.apply(scorer, scored), who),
  };
}

function workAtOnce(answer: unknown, who: string): unknown {
  const work = answer as PreBindWork | null;
  if (work === null) return null;
  const { writes, timeoutMs, waitsFor } = work;
  return { writes, timeoutMs, waitsFor, progress: () => atOnce(work.progress(), who) };
}

/** Who begins to wait may take its time; that it fails is its answer. */
function permitAnswered(answer: unknown, who: string): unknown {
  const permit = answer as PermitWait | Status | null;
  if (permit === null || 'code' in permit) return permit;
  const { waitMs, begin } = permit;
  if (!(waitMs >= 0)) throw new Error(`${who} with a wait, and must say by waitMs how long`);
  if (begin === undefined) return permit;
  return { waitMs, begin: (heard: Answer) => failingInto(heard, begin.call(permit, heard)) };
}

/** So may who binds. */
function bindingAnswered(answer: unknown): unknown {
  if (typeof answer !== 'function') return answer;
  const binding = answer as OwnBinding;
  return (done: Answer) => failingInto(done, binding(done));
}

function failingInto(heard: Answer, outcome: unknown): void {
  if (!(outcome instanceof Promise)) return;
  outcome.catch((error: unknown) => {
    heard({ code: 'error', reasons: [messageOf(error)], helpedBy: 0 });
  });
}
