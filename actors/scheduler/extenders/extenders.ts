// The extenders of a configuration together: who is asked about which pod, in which order, and what their answers come to. One that
// may be ignored is passed over where it cannot be asked. Which pods are asked about, and when, is the core's and the driver's.
import type { Logger } from 'pino';
import type { Clock, Disk } from '../../../runtime/environment.ts';
import type { ExtenderConfiguration } from '../configuration/configuration.ts';
import type { BindingEnd, NodeAnswer, VictimAnswer } from '../core/decision.ts';
import type { Outsiders } from '../core/open-questions.ts';
import type { PreemptionCandidate, Rejection } from '../framework/framework.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { ExtenderFailed, HttpExtender } from './http-extender.ts';

export interface ExtenderParts {
  readonly clock: Clock;
  readonly disk: Pick<Disk, 'readFile'>;
  readonly log: Logger;
}

const asksFilter = ({ configuration }: HttpExtender): boolean => configuration.filterVerb !== '';
const asksPriorities = ({ configuration }: HttpExtender): boolean => configuration.prioritizeVerb !== '';
const asksVictims = ({ configuration }: HttpExtender): boolean => configuration.preemptVerb !== '';
const asksAnything = (extender: HttpExtender): boolean =>
  asksFilter(extender) || asksPriorities(extender) || asksVictims(extender);

export class Extenders implements Outsiders {
  readonly seeNodes: boolean;
  readonly seeVictims: boolean;
  readonly #log: Logger;
  /** Those that may be ignored come last. */
  readonly #extenders: readonly HttpExtender[];
  /** Those that could not be asked last time, which is said once. */
  readonly #failing = new Set<HttpExtender>();

  constructor(configurations: readonly ExtenderConfiguration[], { clock, disk, log }: ExtenderParts) {
    this.#log = log;
    const environment = {
      readFile: (path: string) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: (problem: string) => log.warn(`what was replaced is not used to ask an extender: ${problem}`),
    };
    const all = configurations.map((configuration) => new HttpExtender(configuration, environment));
    const canFail = ({ configuration }: HttpExtender): boolean => configuration.ignorable;
    this.#extenders = [...all.filter((each) => !canFail(each)), ...all.filter(canFail)];
    const wantsObjects = all.filter(({ configuration }) => !configuration.nodeCacheCapable);
    this.seeNodes = wantsObjects.some((each) => asksFilter(each) || asksPriorities(each));
    this.seeVictims = wantsObjects.some(asksVictims);
  }

  readonly judgeNodes = (pod: PodInfo): boolean =>
    this.#extenders.some((extender) => asksAnything(extender) && extender.wants(pod));

  readonly judgeVictims = (pod: PodInfo): boolean =>
    this.#extenders.some((extender) => asksVictims(extender) && extender.wants(pod));

  /** One after the other filters what the one before has left; then they score it. An Error: one could not be asked. */
  async nodes(pod: PodInfo, feasible: readonly NodeInfo[]): Promise<NodeAnswer | Error> {
    let kept = feasible;
    const rejections: Rejection[] = [];
    for (const extender of this.#for(pod, asksFilter)) {
      if (kept.length === 0) break;
      const answer = await this.#tried(extender, () => extender.filter(pod, kept));
      if (answer instanceof Error) {
        if (extender.configuration.ignorable) continue;
        return answer;
      }
      kept = answer.kept;
      rejections.push(...answer.rejections);
    }
    const scores = kept.length > 1 ? await this.#scores(pod, kept) : new Map<string, number>();
    return { kept, rejections, scores };
  }

  /** One after the other judges what the one before has left. */
  async victims(pod: PodInfo, offered: readonly PreemptionCandidate[]): Promise<VictimAnswer> {
    let candidates = offered;
    for (const extender of this.#for(pod, asksVictims)) {
      if (candidates.length === 0) break;
      const answer = await this.#tried(extender, () => extender.preempt(pod, candidates));
      if (!(answer instanceof Error)) candidates = answer;
      else if (!extender.configuration.ignorable) return undefined;
    }
    return candidates;
  }

  /** Binds the pod in the place of plug-ins; undefined where no extender does. */
  binding(pod: PodInfo, node: string): Promise<BindingEnd> | undefined {
    const binder = this.#extenders.find((extender) => extender.configuration.bindVerb !== '' && extender.wants(pod));
    return binder?.bind(pod, node);
  }

  /** Ends what is under way. */
  close(): void {
    for (const extender of this.#extenders) extender.close();
  }

  /** What they add to the totals together. One that cannot be asked adds nothing, whether it may be ignored or not. */
  async #scores(pod: PodInfo, nodes: readonly NodeInfo[]): Promise<ReadonlyMap<string, number>> {
    const answers = await Promise.all(
      this.#for(pod, asksPriorities).map((extender) => this.#tried(extender, () => extender.prioritize(pod, nodes))),
    );
    const sums = new Map<string, number>();
    for (const answer of answers) {
      if (answer instanceof Error) continue;
      for (const [node, score] of answer) sums.set(node, (sums.get(node) ?? 0) + score);
    }
    return sums;
  }

  #for(pod: PodInfo, asks: (extender: HttpExtender) => boolean): readonly HttpExtender[] {
    return this.#extenders.filter((extender) => asks(extender) && extender.wants(pod));
  }

  async #tried<Answer>(extender: HttpExtender, ask: () => Promise<Answer>): Promise<Answer | ExtenderFailed> {
    try {
      const answer = await ask();
      this.#failing.delete(extender);
      return answer;
    } catch (error) {
      if (!(error instanceof ExtenderFailed)) throw error;
      const { address } = extender;
      if (!this.#failing.has(extender)) this.#log.warn({ problem: error.message, address }, 'an extender fails');
      this.#failing.add(extender);
      return error;
    }
  }
}
