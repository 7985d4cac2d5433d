// What happens to a pod about which extenders are asked, beside the decisions about other pods: the questions one after the other,
// each answer told to the core, until the core has decided. Knows nothing of slices and batches.
import type { Clock } from '../../../runtime/environment.ts';
import type { Decision, Question } from '../core/decision.ts';
import type { SchedulingCore } from '../core/scheduling-core.ts';
import type { Extenders } from '../extenders/extenders.ts';

export interface QuestionParts {
  readonly core: SchedulingCore;
  readonly clock: Clock;
  readonly extenders: Pick<Extenders, 'nodes' | 'victims'>;
  readonly isStopped: () => boolean;
}

/** What the core decides in the end; undefined when there is nothing to decide any more. */
export async function decisionAfter(question: Question, parts: QuestionParts): Promise<Decision | undefined> {
  const { core, clock, extenders, isStopped } = parts;
  let next: Decision | Question | undefined = question;
  if (next.kind === 'nodes') {
    const answer = await extenders.nodes(next.pod, next.feasible);
    if (isStopped()) return undefined;
    next = core.answer(next, answer, clock.monotonicMs());
  }
  if (next?.kind !== 'victims') return next;
  const answer = await extenders.victims(next.pod, next.offer.candidates);
  return isStopped() ? undefined : core.answerVictims(next, answer, clock.monotonicMs());
}
