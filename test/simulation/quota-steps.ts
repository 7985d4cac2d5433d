// Pods that come and go in a namespace that has room for few: a quota counts them, a LimitRange completes them, one webhook marks
// them and another refuses some.
import { PODS } from './client.ts';
import type { Hand } from './hand.ts';
import { createPod } from './plain-steps.ts';
import { MARK, REFUSED, webhookOf } from './webhooks.ts';

export const LIMITED_NAMESPACE = 'q';
export const QUOTA_KEY = `core/resourcequotas/${LIMITED_NAMESPACE}/quota`;
/** What the LimitRange gives each container that says nothing. */
export const DEFAULT_CPU = '100m';
const ROOM = 5;
const NAMES = ['q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7'] as const;

const WITHIN = `/api/v1/namespaces/${LIMITED_NAMESPACE}`;
const CONFIGURATIONS = '/apis/admissionregistration.orch.io/v1';
const configuration = (does: 'marks' | 'refuses'): object => ({
  metadata: { name: does },
  webhooks: [webhookOf(does)],
});

/** What has to be there before the first of these steps, in this order. */
export const LIMITED_OBJECTS: readonly (readonly [path: string, body: object])[] = [
  ['/api/v1/namespaces', { metadata: { name: LIMITED_NAMESPACE, labels: MARK } }],
  [`${CONFIGURATIONS}/mutatingwebhookconfigurations`, configuration('marks')],
  [`${CONFIGURATIONS}/validatingwebhookconfigurations`, configuration('refuses')],
  [
    `${WITHIN}/limitranges`,
    { metadata: { name: 'limits' }, spec: { limits: [{ type: 'Container', default: { cpu: DEFAULT_CPU } }] } },
  ],
  [
    `${WITHIN}/resourcequotas`,
    { metadata: { name: 'quota' }, spec: { hard: { pods: String(ROOM), 'limits.cpu': '1' } } },
  ],
];

export class QuotaSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  /** One pod, or several at once as who keeps a number of them does: those that come while others are charged for go in one message. */
  async step(): Promise<void> {
    const hand = this.#hand;
    const names = hand.rarely(2) ? NAMES.filter(() => hand.rarely(2)) : [hand.pick(NAMES)];
    await Promise.all(names.map((name) => this.#change(name)));
  }

  async #change(name: string): Promise<void> {
    const hand = this.#hand;
    const key = { namespace: LIMITED_NAMESPACE, name };
    if (hand.random.below(5) < 3) await createPod(hand, key, 'none', {}, hand.rarely(6) ? { [REFUSED]: 'yes' } : {});
    else await hand.client.write(PODS, { kind: 'delete', ...key, before: 'kept', body: { gracePeriodSeconds: 0 } });
  }
}
