// A client of crash rounds that makes owners with dependents and namespaces with contents, and deletes them, until the server
// is gone. What was asked for must come to its end after the crash, and nothing else must have gone: the deletion of a family
// is many writes of the server's own, and the crash comes between any two of them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { ApiObject, HttpsClient } from '../server/https-client.ts';

const DEPENDENTS = 3;
const POLICIES = ['Background', 'Foreground', 'Orphan'] as const;
/** Longer than garbage collection takes on a busy machine. */
const PATIENCE_MS = 120_000;
const CHECK_EVERY_MS = 50;

type Policy = (typeof POLICIES)[number];

/** How far a deletion is: not asked for, asked for and not answered, or acknowledged. */
type Deletion = 'none' | 'open' | 'acknowledged';

interface Family {
  readonly owner: string;
  /** Those whose creation was acknowledged. */
  readonly dependents: string[];
  readonly policy: Policy;
  deletion: Deletion;
}

interface Household {
  readonly namespace: string;
  readonly contents: string[];
  deletion: Deletion;
}

/** Thrown when the server is gone: the write may have been done or not. */
class ServerGone extends Error {}

export class Families {
  readonly #client: HttpsClient;
  readonly #collection: string;
  #families: Family[] = [];
  #households: Household[] = [];
  #made = 0;

  /** `collection`: the path of the config maps that families are made of. */
  constructor(client: HttpsClient, collection: string) {
    this.#client = client;
    this.#collection = collection;
  }

  /** Makes and deletes until a request is not answered. Rejects when one is refused. */
  async run(random: SeededRandom): Promise<void> {
    try {
      for (;;) {
        if (random.below(4) === 0) await this.#household(`household-${++this.#made}`);
        else await this.#family(`family-${++this.#made}`, POLICIES[random.below(POLICIES.length)]!);
      }
    } catch (error) {
      if (!(error instanceof ServerGone)) throw error;
    }
  }

  /** Waits until everything is as it must be, and forgets it. Returns what never became so. */
  async settle(): Promise<readonly string[]> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const problems = await this.#problems();
      if (problems.length > 0 && performance.now() < deadline) {
        await sleep(CHECK_EVERY_MS);
        continue;
      }
      this.#families = [];
      this.#households = [];
      return problems;
    }
  }

  async #family(owner: string, policy: Policy): Promise<void> {
    const family: Family = { owner, dependents: [], policy, deletion: 'none' };
    const { metadata } = await this.#asked('POST', this.#collection, { metadata: { name: owner } });
    this.#families.push(family);
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: metadata.uid, blockOwnerDeletion: true };
    for (let index = 0; index < DEPENDENTS; index++) {
      const name = `${owner}-${index}`;
      await this.#asked('POST', this.#collection, { metadata: { name, ownerReferences: [reference] } });
      family.dependents.push(name);
    }
    family.deletion = 'open';
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: policy };
    await this.#asked('DELETE', `${this.#collection}/${owner}`, options);
    family.deletion = 'acknowledged';
  }

  async #household(namespace: string): Promise<void> {
    const household: Household = { namespace, contents: [], deletion: 'none' };
    await this.#asked('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    this.#households.push(household);
    for (let index = 0; index < DEPENDENTS; index++) {
      const name = `content-${index}`;
      await this.#asked('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } });
      household.contents.push(name);
    }
    household.deletion = 'open';
    await this.#asked('DELETE', `/api/v1/namespaces/${namespace}`);
    household.deletion = 'acknowledged';
  }

  async #asked(method: 'POST' | 'DELETE', path: string, body?: object): Promise<ApiObject> {
    const answer = await this.#client.request(method, path, body === undefined ? {} : { body }).catch(() => {
      throw new ServerGone();
    });
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`);
    return answer.json;
  }

  async #problems(): Promise<string[]> {
    const stored = await this.#named(this.#collection);
    const namespaces = await this.#named('/api/v1/namespaces');
    const contents = await this.#items('/api/v1/configmaps');
    return [
      ...this.#families.flatMap((family) => familyProblems(family, stored)),
      ...this.#households.flatMap((household) => householdProblems(household, namespaces, contents)),
    ];
  }

  async #items(path: string): Promise<readonly ApiObject[]> {
    const { status, text, json } = await this.#client.get(path);
    if (status !== 200) throw new Error(`the list of ${path} was answered with ${status}: ${text}`);
    return json.items ?? [];
  }

  async #named(path: string): Promise<ReadonlyMap<string, ApiObject>> {
    return new Map((await this.#items(path)).map((item) => [item.metadata.name ?? '', item]));
  }
}

/** A deletion that was not answered has happened whole, with all that follows from it, or not at all. */
function familyProblems(family: Family, stored: ReadonlyMap<string, ApiObject>): string[] {
  const { owner, dependents, policy } = family;
  const ownerThere = stored.get(owner);
  const problems: string[] = [];
  if (family.deletion === 'acknowledged' && ownerThere !== undefined)
    problems.push(`${owner} was deleted and is there`);
  if (family.deletion === 'none' && ownerThere === undefined) problems.push(`${owner} is gone, and nobody deleted it`);
  const deleted = ownerThere === undefined || ownerThere.metadata.deletionTimestamp !== undefined;
  if (ownerThere !== undefined && deleted) problems.push(`${owner} is being deleted still`);
  for (const name of dependents) {
    const dependent = stored.get(name);
    const belongs = (dependent?.metadata.ownerReferences ?? []).length > 0;
    if (!deleted && !belongs) problems.push(`${name} has lost its owner, which is there`);
    if (deleted && policy === 'Orphan' && (dependent === undefined || belongs)) {
      problems.push(`${name} is ${dependent === undefined ? 'gone' : 'no orphan'}, and its owner was to leave it`);
    }
    if (deleted && policy !== 'Orphan' && dependent !== undefined) problems.push(`${name} has outlived its owner`);
  }
  return problems;
}

function householdProblems(
  { namespace, contents, deletion }: Household,
  namespaces: ReadonlyMap<string, ApiObject>,
  configMaps: readonly ApiObject[],
): string[] {
  const there = namespaces.get(namespace);
  const inside = new Set(
    configMaps.filter(({ metadata }) => metadata.namespace === namespace).map(({ metadata }) => metadata.name),
  );
  if (there === undefined) {
    if (deletion === 'none') return [`namespace ${namespace} is gone, and nobody deleted it`];
    return inside.size === 0 ? [] : [`${inside.size} objects have outlived namespace ${namespace}`];
  }
  if (there.metadata.deletionTimestamp !== undefined) return [`namespace ${namespace} is being deleted still`];
  if (deletion === 'acknowledged') return [`namespace ${namespace} was deleted and is there`];
  return contents
    .filter((name) => !inside.has(name))
    .map((name) => `${namespace}/${name} is gone, its namespace is there`);
}
