// Server-side applies by several managers, with and without force, on config maps of their own; and plain patches between
// them. Each says something of shared members, and marks a member that only its manager writes.
import { CONFIG_MAPS, outcomeOf } from './client.ts';
import { type Hand, NAMESPACES } from './hand.ts';
import type { Assertion } from './history.ts';

const APPLIERS = ['m0', 'm1', 'm2'] as const;
const UPDATER = 'u';
const SHARED = ['x', 'y', 'z'] as const;
const VALUES = ['1', '2', '3'] as const;
const DRY_RUNS = 10;

export class ApplySteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async apply(): Promise<void> {
    const hand = this.#hand;
    const name = this.#name();
    const manager = hand.pick(APPLIERS);
    const { fields, mark } = this.#fields(manager);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: fields };
    const force = hand.rarely(3);
    const query = [`fieldManager=${manager}`, ...(force ? ['force=true'] : [])];
    const said = { kind: 'apply', manager: `${manager}/Apply`, mark, fields, force } as const;
    await this.#send(name, said, 'application/apply-patch+yaml', query, body);
  }

  /** A patch, which takes over whatever it changes; or a deletion, after which everything begins anew. */
  async patch(): Promise<void> {
    const hand = this.#hand;
    const name = this.#name();
    if (hand.rarely(4)) {
      await hand.client.write(CONFIG_MAPS, { kind: 'delete', namespace: NAMESPACES[0], name, before: 'kept' });
      return;
    }
    const { fields, mark } = this.#fields(UPDATER);
    const said = { kind: 'patch', manager: `${UPDATER}/Update`, mark, fields, force: false } as const;
    await this.#send(name, said, 'application/merge-patch+json', [`fieldManager=${UPDATER}`], { data: fields });
  }

  async #send(
    name: string,
    said: Pick<Assertion, 'kind' | 'manager' | 'mark' | 'fields' | 'force'>,
    contentType: string,
    query: readonly string[],
    body: object,
  ): Promise<void> {
    const { client } = this.#hand;
    const { storageKey, path } = CONFIG_MAPS;
    const namespace = NAMESPACES[0];
    const dry = this.#hand.rarely(DRY_RUNS);
    const answer = await client.request({
      method: 'PATCH',
      path: `${path(namespace)}/${name}`,
      contentType,
      query: (dry ? [...query, 'dryRun=All'] : query).join('&'),
      body: JSON.stringify(body),
    });
    const { front, invoked, returned } = answer;
    const outcome = outcomeOf(storageKey, answer);
    const key = `${storageKey}/${namespace}/${name}`;
    client.assertions.push({ client: client.number, front, invoked, returned, key, ...said, dry, outcome });
  }

  #name(): string {
    return this.#hand.pick(['s0', 's1']);
  }

  #fields(manager: string): Pick<Assertion, 'fields' | 'mark'> {
    const hand = this.#hand;
    const mark = [`by-${manager}`, hand.tag()] as const;
    const shared = SHARED.filter(() => hand.rarely(2)).map((member) => [member, hand.pick(VALUES)]);
    return { mark, fields: Object.fromEntries([mark, ...shared]) as Record<string, string> };
  }
}
