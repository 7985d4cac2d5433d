// Admission, hub, store and controllers as a server has them, in this process, on one thread and without a listener.

import type { AdmissionProtocol, WriteParameters, WriteReply } from '../../actors/admission/protocol.ts';
import type { WriteVerb } from '../../api/verbs.ts';
import { itemsOf } from '../../rendering/value-pieces.ts';
import { planOfOneThread } from '../../runtime/placement/plan.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { type InProcess, startInProcess } from '../../runtime/threads/in-process.ts';
import { everyActor } from '../server/every-actor.ts';
import { memorySettings } from '../server/memory-settings.ts';
import { eventually } from './objects.ts';

const DEADLINE_MS = 120_000;
const CLIENTS = 500;
const ACTORS = ['store', 'hub', 'admission', 'controllers'];
const ADMIN = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };

/** Of the objects that a deleted collection is answered with. */
export function namesIn(reply: WriteReply): string[] {
  if (!('list' in reply)) throw new Error('no list');
  return itemsOf(reply.list).map(({ metadata }) => (metadata as unknown as Metadata).name);
}

export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion: boolean;
}

export interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly Reference[];
}

/** What a client sees of it, in config maps unless said otherwise. */
export class InProcessCluster {
  readonly #run: InProcess;
  readonly #encoder = new TextEncoder();

  constructor(run: InProcess) {
    this.#run = run;
  }

  async write(
    verb: WriteVerb,
    name: string,
    body?: object,
    parameters: WriteParameters = {},
    namespace = 'default',
    resource = 'configmaps',
  ): Promise<WriteReply> {
    return this.#run.ref<AdmissionProtocol>('admission').ask(
      {
        type: 'write',
        verb,
        target: { group: '', version: 'v1', resource, subresource: '', namespace, name },
        user: ADMIN,
        userAgent: 'test',
        parameters,
        contentType: verb === 'patch' ? 'application/merge-patch+json' : 'application/json',
        payload: body === undefined ? new Uint8Array() : this.#encoder.encode(JSON.stringify(body)),
      },
      { deadlineMs: DEADLINE_MS },
    );
  }

  async create(name: string, owners: readonly Reference[] = [], namespace = 'default', more: object = {}) {
    const metadata = { name, ...(owners.length > 0 ? { ownerReferences: owners } : {}), ...more };
    const { code } = await this.write('create', '', { metadata }, {}, namespace);
    if (code !== 201) throw new Error(`${name} could not be created: ${code}`);
  }

  /** Creates many at a time, as many clients would. */
  async createAll(names: readonly string[], owners: readonly Reference[] = [], namespace = 'default'): Promise<void> {
    for (let from = 0; from < names.length; from += CLIENTS)
      await Promise.all(names.slice(from, from + CLIENTS).map((name) => this.create(name, owners, namespace)));
  }

  /** The object as it is, by way of a write that changes nothing: there is no listener to read through. */
  async read(name: string, namespace = 'default', resource = 'configmaps'): Promise<Metadata | undefined> {
    const reply = await this.write('patch', name, {}, { dryRun: ['All'] }, namespace, resource);
    return reply.code === 200 && 'body' in reply ? (reply.body as { metadata: Metadata }).metadata : undefined;
  }

  /** In the order of names, by way of a dry run. */
  async names(namespace = 'default'): Promise<string[]> {
    const reply = await this.write('deletecollection', '', undefined, { dryRun: ['All'] }, namespace);
    return namesIn(reply).filter((name) => !name.endsWith('root-ca.crt'));
  }

  /** Resolves when there is no such object any more. */
  async gone(name: string, namespace = 'default', resource = 'configmaps'): Promise<void> {
    await eventually(
      () => this.read(name, namespace, resource),
      (metadata) => metadata === undefined,
    );
  }

  /** As an owner of others. */
  async reference(name: string): Promise<Reference> {
    const { uid = '' } = (await this.read(name)) ?? {};
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true };
  }
}

/** What ends it: a test's `t`. */
interface Scope {
  teardown(undo: () => Promise<void>): void;
}

/** A cluster that is up. `args` are further arguments of the command. */
export async function startCluster(scope: Scope, args: readonly string[] = []): Promise<InProcessCluster> {
  const settings = memorySettings('up', ['--data-dir', '/nowhere', '--store-engine', 'memory', ...args]);
  const actors = everyActor.filter(({ actor }) => ACTORS.includes(actor));
  const run = await startInProcess({
    actors,
    plan: planOfOneThread(actors),
    options: settings,
    environment: realEnvironment,
  });
  scope.teardown(() => run.stop());
  const made = new InProcessCluster(run);
  await eventually(
    () => made.read('default', '', 'namespaces'),
    (metadata) => metadata !== undefined,
  );
  return made;
}
