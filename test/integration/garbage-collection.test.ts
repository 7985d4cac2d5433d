// Admission, hub, store and controllers as a server has them, in this process and without a listener: deletion at a size
// where a collector that looks at everything every time would not come to an end.
import test, { type ExecutionContext } from 'ava';
import type { AdmissionProtocol, WriteParameters, WriteReply, WriteVerb } from '../../actors/admission/protocol.ts';
import { roster } from '../../actors/roster.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import { parseArguments } from '../../config/parse.ts';
import { type InProcess, startInProcess } from '../../runtime/in-process.ts';
import { planOfOneThread } from '../../runtime/plan.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { eventually } from './objects.ts';

const DEADLINE_MS = 60_000;
const KINDS = ['store', 'hub', 'admission', 'controllers'];
const ADMIN = { name: 'admin', uid: '', groups: ['system:masters'], extra: {} };

interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion: boolean;
}

class Cluster {
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
        contentType: 'application/json',
        payload: body === undefined ? new Uint8Array() : this.#encoder.encode(JSON.stringify(body)),
      },
      { deadlineMs: DEADLINE_MS },
    );
  }

  async create(name: string, owners: readonly Reference[] = [], namespace = 'default'): Promise<void> {
    const metadata = { name, ...(owners.length > 0 ? { ownerReferences: owners } : {}) };
    const { code } = await this.write('create', '', { metadata }, {}, namespace);
    if (code !== 201) throw new Error(`${name} could not be created: ${code}`);
  }

  /** In the order of names. A dry run of their deletion: the one way to list without a listener. */
  async names(namespace = 'default'): Promise<string[]> {
    const reply = await this.write('deletecollection', '', undefined, { dryRun: ['All'] }, namespace);
    if (!('body' in reply)) throw new Error('no list');
    const { items } = reply.body as { items: { metadata: { name: string } }[] };
    return items.map(({ metadata }) => metadata.name).filter((name) => !name.endsWith('root-ca.crt'));
  }

  /** As an owner of others. */
  async reference(name: string): Promise<Reference> {
    const reply = await this.write('delete', name, undefined, { dryRun: ['All'] });
    const { details } = ('body' in reply ? reply.body : {}) as { details?: { uid: string } };
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: details?.uid ?? '', blockOwnerDeletion: true };
  }
}

async function cluster(t: ExecutionContext): Promise<Cluster> {
  const parsed = parseArguments('up', ['--data-dir', '/nowhere', '--store-engine', 'memory']);
  if (parsed.action !== 'run') throw new Error('these are arguments to run with');
  const settings: ServerSettings = {
    dialect: 'orch',
    options: parsed.options,
    dataDirectory: '/nowhere',
    storeEngine: 'memory',
    tls: undefined,
    caPem: '',
    tokens: [],
    advertiseAddress: '192.0.2.7',
    build: { major: '1', minor: '21', gitVersion: '', gitCommit: '', gitTreeState: '', buildDate: '' } as never,
    startedWallMs: 0,
    schedulerName: 'none',
  };
  const kinds = roster.filter(({ kind }) => KINDS.includes(kind));
  const run = await startInProcess({
    kinds,
    plan: planOfOneThread(kinds),
    options: settings,
    environment: realEnvironment,
  });
  t.teardown(() => run.stop());
  const made = new Cluster(run);
  await eventually(
    () => made.write('update', 'default', { metadata: { name: 'default' } }, { dryRun: ['All'] }, '', 'namespaces'),
    ({ code }) => code === 200,
  );
  return made;
}

/** Creates many at a time, as many clients would. */
async function createAll(made: Cluster, names: readonly string[], owners: readonly Reference[], namespace = 'default') {
  for (let from = 0; from < names.length; from += 500)
    await Promise.all(names.slice(from, from + 500).map((name) => made.create(name, owners, namespace)));
}

const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(5, '0')}`);

test('among ten thousand objects, what is owned goes with its owner and all else stays', async (t) => {
  const made = await cluster(t);
  const bystanders = numbered('bystander', 7_000);
  await made.create('owner');
  const owner = await made.reference('owner');
  await createAll(made, bystanders, []);
  await createAll(made, numbered('owned', 3_000), [owner]);
  t.is((await made.names()).length, 10_001);

  const reply = await made.write('delete', 'owner', { kind: 'DeleteOptions', propagationPolicy: 'Foreground' });
  t.true('place' in reply, 'the owner is still there, and waits');
  const left = await eventually(
    () => made.names(),
    (names) => !names.includes('owner'),
  );
  t.deepEqual(left, bystanders);
});

test('ten thousand dependents are orphaned one by one, and stay', async (t) => {
  const made = await cluster(t);
  const dependents = numbered('owned', 10_000);
  await made.create('owner');
  await createAll(made, dependents, [await made.reference('owner')]);
  await made.write('delete', 'owner', undefined, { propagationPolicy: 'Orphan' });
  const left = await eventually(
    () => made.names(),
    (names) => !names.includes('owner'),
  );
  t.deepEqual(left, dependents);
  const survivor = await made.write(
    'update',
    'owned-00000',
    { metadata: { name: 'owned-00000' } },
    { dryRun: ['All'] },
  );
  t.is(survivor.code, 200);
});

test('a namespace of a thousand objects is emptied and gone', async (t) => {
  const made = await cluster(t);
  await made.write('create', '', { metadata: { name: 'full' } }, {}, '', 'namespaces');
  await createAll(made, numbered('c', 1_000), [], 'full');
  await made.create('elsewhere');
  const reply = await made.write('delete', 'full', undefined, {}, '', 'namespaces');
  t.is(reply.code, 200);
  const late = await made.write('create', '', { metadata: { name: 'late' } }, {}, 'full');
  t.true(late.code === 403 || late.code === 404, `it takes nothing new: ${late.code}`);
  await eventually(
    () => made.write('delete', 'full', undefined, { dryRun: ['All'] }, '', 'namespaces'),
    ({ code }) => code === 404,
  );
  t.deepEqual(await made.names('full'), []);
  t.deepEqual(await made.names(), ['elsewhere']);
});
