// What the clients of a run do, drawn from the seed: each run has one mix of steps, so that none crowds out the others, and
// the runs together have all.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { ApplySteps } from './apply-steps.ts';
import {
  type Answer,
  type Client,
  CONFIG_MAPS,
  type Collection,
  DEPLOYMENTS,
  PODS,
  REPLICA_SETS,
  SECRETS,
} from './client.ts';
import type { Version } from './committed.ts';
import { DEFINED_TYPES } from './defined-types.ts';
import { DefinitionSteps } from './definition-steps.ts';
import { FINALIZER, Hand, NAMESPACES, PLAIN_NAMES } from './hand.ts';
import { NamespaceSteps } from './namespace-steps.ts';
import { letGo, OwnershipSteps } from './ownership-steps.ts';
import { PatchSteps } from './patch-steps.ts';
import { PlainSteps } from './plain-steps.ts';
import { QuotaSteps } from './quota-steps.ts';
import { ServiceSteps } from './service-steps.ts';
import { WantedSteps } from './wanted-steps.ts';
import { WatchSteps } from './watch-steps.ts';

const THINK_MS_MAX = 150;

type StepName =
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deleteCollection'
  | 'get'
  | 'list'
  | 'watch'
  | 'watchAhead'
  | 'breakWatch'
  | 'pod'
  | 'pair'
  | 'apply'
  | 'patchApplied'
  | 'own'
  | 'namespace'
  | 'limited'
  | 'define'
  | 'instance'
  | 'look'
  | 'service'
  | 'wanted';

/** How often each step is taken, in parts of the whole; and whether the controllers have to be there. */
export interface Mix {
  readonly name: string;
  readonly needsControllers: boolean;
  readonly shares: Partial<Readonly<Record<StepName, number>>>;
}

const READS = { get: 2, list: 3, watch: 2, breakWatch: 1 };

const MIXES: readonly Mix[] = [
  {
    name: 'plain',
    needsControllers: false,
    shares: { ...READS, create: 5, update: 5, patch: 2, delete: 2, deleteCollection: 1, pod: 4, pair: 1 },
  },
  {
    name: 'watches',
    needsControllers: false,
    shares: { get: 1, list: 1, watch: 9, breakWatch: 4, create: 6, update: 10, patch: 2, delete: 3, pair: 2 },
  },
  {
    name: 'patches',
    needsControllers: false,
    shares: { ...READS, create: 4, update: 2, patch: 10, delete: 1, deleteCollection: 1, pair: 1 },
  },
  {
    name: 'applies',
    needsControllers: false,
    shares: { ...READS, create: 2, patch: 2, delete: 1, apply: 10, patchApplied: 3 },
  },
  {
    name: 'ownership',
    needsControllers: true,
    shares: { ...READS, create: 2, update: 1, patch: 1, delete: 1, own: 14 },
  },
  {
    name: 'namespaces',
    needsControllers: true,
    shares: { ...READS, create: 2, update: 1, patch: 1, delete: 1, namespace: 14 },
  },
  {
    name: 'quotas',
    needsControllers: true,
    shares: { ...READS, create: 2, update: 1, patch: 1, delete: 1, limited: 16 },
  },
  {
    name: 'definitions',
    needsControllers: true,
    shares: { get: 1, list: 1, create: 2, update: 1, delete: 1, define: 4, instance: 12, look: 8, breakWatch: 1 },
  },
  {
    name: 'specs',
    needsControllers: false,
    shares: { ...READS, create: 2, update: 1, patch: 1, delete: 1, service: 10, wanted: 8 },
  },
];

/** Watches from revisions that the hub which is asked has yet to hear of: not drawn, and for runs whose hubs are apart. */
export const AHEAD: Mix = {
  name: 'ahead',
  needsControllers: false,
  shares: { ...READS, create: 5, update: 8, delete: 2, watchAhead: 8 },
};

export function mixNamed(name: string): Mix {
  return MIXES.find((mix) => mix.name === name)!;
}

/** Plain steps are in every other run. */
export function drawMix(random: SeededRandom): Mix {
  return random.below(2) === 0 ? MIXES[0]! : MIXES[1 + random.below(MIXES.length - 1)]!;
}

/** One client's part of a run. */
export class Workload {
  readonly #client: Client;
  readonly #steps: Readonly<Record<StepName, () => Promise<void> | void>>;
  /** Each step as often as its share says. */
  readonly #urn: readonly StepName[];

  /** `known`: the highest revision that any client of the run has been told of. */
  constructor(client: Client, mix: Mix, known: () => number) {
    this.#client = client;
    const hand = new Hand(client, known);
    const plain = new PlainSteps(hand);
    const patches = new PatchSteps(hand);
    const watches = new WatchSteps(hand);
    const applies = new ApplySteps(hand);
    const ownership = new OwnershipSteps(hand);
    const namespaces = new NamespaceSteps(hand);
    const quotas = new QuotaSteps(hand);
    const services = new ServiceSteps(hand);
    const wanted = new WantedSteps(hand);
    const definitions = new DefinitionSteps(hand, watches);
    this.#steps = {
      create: () => plain.create(),
      update: () => plain.update(),
      delete: () => plain.delete(),
      deleteCollection: () => plain.deleteCollection(),
      get: () => plain.get(),
      list: () => plain.list(),
      pair: () => plain.pair(),
      pod: () => plain.pod(),
      patch: () => patches.patch(),
      watch: () => watches.watch(),
      watchAhead: () => watches.watchAhead(),
      breakWatch: () => watches.breakOne(),
      apply: () => applies.apply(),
      patchApplied: () => applies.patch(),
      own: () => ownership.step(),
      namespace: () => namespaces.step(),
      limited: () => quotas.step(),
      define: () => definitions.define(),
      instance: () => definitions.instance(),
      look: () => definitions.look(),
      service: () => services.step(),
      wanted: () => wanted.step(),
    };
    this.#urn = Object.entries(mix.shares).flatMap(([name, share]) => Array<StepName>(share).fill(name as StepName));
  }

  /** A number of steps, each awaited before the next. */
  async run(steps: number): Promise<void> {
    const { world, random } = this.#client;
    for (let step = 0; step < steps; step++) {
      await world.sleep(random.below(THINK_MS_MAX));
      await this.#steps[this.#urn[random.below(this.#urn.length)]!]();
    }
  }
}

/** Reads everything once more, when all has come to rest: what was lost shows now. */
export async function readEverything(client: Client): Promise<void> {
  const settled = async (ask: () => Promise<Answer>): Promise<void> => {
    while ((await ask()).status >= 500) await client.world.sleep(100);
  };
  for (const collection of [CONFIG_MAPS, SECRETS]) {
    for (const namespace of NAMESPACES) {
      for (const name of PLAIN_NAMES) await settled(() => client.get(collection, namespace, name, 'mostRecent', 0));
    }
    const scope = { storageKey: collection.storageKey, namespace: '', frontOnly: false, name: '', node: '' };
    await client.list(collection, scope, 'mostRecent', 0, 0);
  }
}

const BY_STORAGE_KEY: ReadonlyMap<string, Collection> = new Map(
  [CONFIG_MAPS, SECRETS, PODS, DEPLOYMENTS, REPLICA_SETS, ...DEFINED_TYPES].map((collection) => [
    collection.storageKey,
    collection,
  ]),
);

/** Takes the clients' finalizers from everything that is being deleted, as whoever set them would in the end. */
export async function letEverythingGo(client: Client, present: Iterable<Version>): Promise<void> {
  for (const { key, dying, finalizers } of [...present]) {
    if (!dying || !finalizers.includes(FINALIZER)) continue;
    const [group, plural, namespace = '', name = ''] = key.split('/');
    const collection = BY_STORAGE_KEY.get(`${group}/${plural}`);
    if (collection !== undefined) await letGo({ client }, collection, { namespace, name });
  }
}
