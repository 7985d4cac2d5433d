// A controller that acts only while it holds a Lease, as client libraries elect leaders: it renews by versions, believes no clock but
// its own, and stops acting before another may begin. What it did when is noted, so that two at once would show.
import type { ApiObject, HttpsClient } from '../server/https-client.ts';

const LEASE_MS = 5000;
/** Without a renewal for so long it does not act any more. */
const RENEW_DEADLINE_MS = 3000;
const RETRY_MS = 300;
const ACT_MS = 20;

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly renewTime?: string;
}

/** What the candidates of a run share. */
export interface Acting {
  /** Who acts at this moment. */
  readonly now: Set<string>;
  readonly problems: string[];
  acts: number;
  terms: number;
}

export class LeaseCandidate {
  readonly #client: HttpsClient;
  readonly #path: string;
  readonly #name: string;
  readonly #acting: Acting;
  #isOver = false;
  /** The version of the lease that was seen last, and since when. */
  #seen = { version: '', sinceMs: 0 };
  #actsUntilMs = 0;

  /** `path`: of the leases of a namespace. */
  constructor(client: HttpsClient, path: string, name: string, acting: Acting) {
    this.#client = client;
    this.#path = path;
    this.#name = name;
    this.#acting = acting;
  }

  async run(): Promise<void> {
    const acting = this.#act();
    while (!this.#isOver) {
      await this.#tryLease().catch(() => {});
      await pause(RETRY_MS);
    }
    await acting;
  }

  stop(): void {
    this.#isOver = true;
  }

  async #tryLease(): Promise<void> {
    const { status, json } = await this.#client.get(`${this.#path}/controller`);
    if (status === 404) {
      await this.#client.request('POST', this.#path, { body: { metadata: { name: 'controller' }, spec: {} } });
      return;
    }
    if (status !== 200) return;
    const { resourceVersion = '' } = json.metadata;
    const { holderIdentity = '' } = (json.spec ?? {}) as LeaseSpec;
    const isOwn = holderIdentity === this.#name;
    if (this.#seen.version !== resourceVersion) this.#seen = { version: resourceVersion, sinceMs: performance.now() };
    const isFree = holderIdentity === '' || performance.now() - this.#seen.sinceMs > LEASE_MS;
    if (isOwn || isFree) await this.#renew(json, isOwn);
  }

  async #renew(lease: ApiObject, isOwn: boolean): Promise<void> {
    const askedMs = performance.now();
    const spec: LeaseSpec = { holderIdentity: this.#name, renewTime: new Date().toISOString().replace('Z', '000Z') };
    const answer = await this.#client.request('PUT', `${this.#path}/controller`, { body: { ...lease, spec } });
    if (answer.status !== 200) return;
    this.#seen = { version: answer.json.metadata.resourceVersion ?? '', sinceMs: performance.now() };
    if (!isOwn) this.#acting.terms++;
    this.#actsUntilMs = askedMs + RENEW_DEADLINE_MS;
  }

  /** The deed is to be alone: whoever else does one at the same time is told. */
  async #act(): Promise<void> {
    const { now, problems } = this.#acting;
    while (!this.#isOver) {
      if (performance.now() < this.#actsUntilMs) {
        now.add(this.#name);
        if (now.size > 1) problems.push(`${[...now].join(' and ')} act at once`);
        this.#acting.acts++;
        await pause(ACT_MS);
        now.delete(this.#name);
      } else await pause(ACT_MS);
    }
  }
}

function pause(forMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, forMs);
  });
}
