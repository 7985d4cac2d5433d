// Admission webhooks of a simulated server: one marks what it is shown, one refuses what asks for it. They answer late, wrongly or
// never as the seed says, until all has come to rest.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { VirtualTime } from '../../runtime/simulation/virtual-time.ts';
import type { ConnectionSecretsParts } from '../../transport/outgoing/connection-secrets.ts';
import { ServiceCallFailed, type WebhookClient } from '../../transport/outgoing/service-client.ts';
import type { Faults } from './faults.ts';

/** What the one puts on everything, and what the other refuses. */
export const MARK = { hooked: 'yes' } as const;
export const REFUSED = 'refused';
const HOST = 'https://hooks.example';
/** One call in so many goes wrong, in each of the ways. */
const WRONG_ONE_IN = 15;
const ANSWER_MS_MAX = 60;

interface Review {
  readonly apiVersion: string;
  readonly request: {
    readonly uid: string;
    readonly object: { readonly metadata: { readonly labels?: object; readonly annotations?: object } } | null;
  };
}

/** The two as a configuration of either kind has them, for the namespaces that are labelled with the mark. */
export function webhookOf(does: 'marks' | 'refuses'): object {
  return {
    name: `${does}.hooks.example`,
    clientConfig: { url: `${HOST}/${does}` },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    namespaceSelector: { matchLabels: MARK },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 2,
  };
}

export class SimulatedWebhooks {
  readonly #time: VirtualTime;
  readonly #random: SeededRandom;
  readonly #faults: Faults;

  constructor(time: VirtualTime, random: SeededRandom, faults: Faults) {
    this.#time = time;
    this.#random = random;
    this.#faults = faults;
  }

  readonly client = ({ connection: { url } }: ConnectionSecretsParts): WebhookClient => ({
    post: (json, deadlineMs) => this.#answer(new URL(url).pathname, JSON.parse(json) as Review, deadlineMs),
    postUnread: async (json, deadlineMs) => {
      const answer = await this.#answer(new URL(url).pathname, JSON.parse(json) as Review, deadlineMs);
      return () => answer;
    },
    retire: () => {},
  });

  async #answer(path: string, { apiVersion, request }: Review, deadlineMs: number): Promise<unknown> {
    const fate =
      this.#faults.plan.webhooksFail && !this.#faults.isOver ? this.#random.below(WRONG_ONE_IN) : WRONG_ONE_IN;
    if (fate === 0) throw new ServiceCallFailed('the service could not be reached (ECONNREFUSED)', true);
    if (fate === 1) {
      await this.#after(deadlineMs);
      throw new ServiceCallFailed('the service did not answer in time', true);
    }
    await this.#after(this.#random.below(ANSWER_MS_MAX));
    const uid = fate === 2 ? 'another' : request.uid;
    const { labels = {}, annotations = {} } = request.object?.metadata ?? {};
    const patch = [{ op: 'add', path: '/metadata/labels', value: { ...labels, ...MARK } }];
    const response =
      path === '/marks'
        ? { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
        : { allowed: !(REFUSED in annotations) };
    return { apiVersion, kind: 'AdmissionReview', response: { uid, ...response } };
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#time.after(ms, resolve));
  }
}
