// `orch store check|repair|reencrypt|snapshot … --store-servers URLS`: the commands of data folders where the store is in etcd. They
// take the server's own options, so that its command line can be given as it is, and may run beside servers.
import { randomBytes, randomUUID } from 'node:crypto';
import { encryptionFor } from '../../actors/store/encryption/encryption-at-rest.ts';
import { reencryptShared } from '../../actors/store/encryption/shared-reencryption.ts';
import { DYING_PLACE } from '../../actors/store/log/version-numbers.ts';
import { registryFor } from '../../actors/thread-registry.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { type FeatureGateName, parseFeatureGates } from '../../config/feature-gates.ts';
import type { ServerOptions } from '../../config/options.ts';
import { parseArguments } from '../../config/parse.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import { askedAgain } from '../../storage/etcd/asked-again.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { EtcdEngine } from '../../storage/etcd/etcd-engine.ts';
import { inspectKeyspace, type KeyspaceInspection } from '../../storage/etcd/etcd-inspection.ts';
import { KeyspaceRepair } from '../../storage/etcd/etcd-repair.ts';
import { saveEtcd } from '../../storage/etcd/etcd-snapshot.ts';
import { originalLayout } from '../../storage/etcd/original/assembled-engine.ts';
import { inspectOriginal } from '../../storage/etcd/original/original-inspection.ts';
import { keptAlive } from '../command-line/kept-alive.ts';
import { print, warn } from '../command-line/print-lines.ts';
import { readEncryptionFile } from '../files/encryption-file.ts';
import { etcdAccess } from '../server/store-access.ts';

const { timers } = realEnvironment;

/** Everything in a keyspace, and what of it is not as it must be. Throws StoreUnusable when something is not. */
export function checkEtcd(argv: readonly string[]): Promise<void> {
  return onEtcd('check', argv, async (options, cluster) => {
    if (options.storeLayout !== 'own') {
      await checkOriginal(options, cluster);
      return;
    }
    const found = await inspect(options, cluster, encryptionOf(options));
    print(contents(found));
    print(found.problems.map((problem) => `damaged: ${problem}`));
    if (found.problems.length > 0) {
      throw new OrchError(
        'StoreUnusable',
        `the store at ${found.place} is damaged; orch store repair --store-servers … puts aside what nobody can read`,
      );
    }
    if (found.unserved !== undefined) throw found.unserved;
    print(['the store is sound']);
  });
}

/** The same where a keyspace is in the layout of another server. */
async function checkOriginal(options: ServerOptions, cluster: EtcdClient): Promise<void> {
  const { apiDialect, storePrefix, serviceClusterIpRange, serviceNodePortRange } = options;
  const dialect = DIALECTS[apiDialect];
  const registry = registryFor({ dialect: apiDialect, options });
  const layout = originalLayout({
    registry,
    prefix: storePrefix,
    media: 'protobuf',
    features: (gate) => parseFeatureGates(options.featureGates, dialect).enabled(gate as FeatureGateName),
    encryption: encryptionOf(options),
    network: { clusterIpRanges: serviceClusterIpRange, nodePorts: serviceNodePortRange },
  });
  const found = await inspectOriginal({ cluster, timers, ...layout });
  const { objects, encrypted, others, revision, bytes, problems } = found;
  print([
    `store ${layout.keys.root} of layout ${options.storeLayout}`,
    `objects ${objects}, of which ${encrypted} are encrypted; ${others} keys are nothing that is known here`,
    `read at revision ${revision} of etcd`,
    `bytes ${bytes}`,
    ...problems.map((problem) => `damaged: ${problem}`),
  ]);
  if (problems.length > 0) throw new OrchError('StoreUnusable', `the store at ${layout.keys.root} is damaged`);
  print(['the store is sound']);
}

/** Refuses what is about the own layout alone. Throws OrchError BadConfiguration. */
export function refuseOtherLayout(command: string, { storeLayout }: ServerOptions, instead: string): void {
  if (storeLayout === 'own') return;
  const line = `orch store ${command} is for --store-layout own: ${instead}`;
  throw new OrchError('BadConfiguration', line);
}

/** Puts aside what nobody can read, and has the notes of addresses agree with the services that there are. */
export function repairEtcd(argv: readonly string[]): Promise<void> {
  return onEtcd('repair', argv, async (options, cluster) => {
    refuseOtherLayout('repair', options, 'remove what orch store check names with etcdctl, or restore a snapshot');
    const found = await inspect(options, cluster, undefined);
    if (found.identity === undefined) {
      throw new OrchError(
        'StoreUnusable',
        `${found.place} cannot be read, and nothing else says whose the store is: restore a snapshot of etcd's`,
      );
    }
    if (found.unserved !== undefined) throw found.unserved;
    if (found.problems.length === 0) {
      print(['the store is sound: nothing was changed']);
      return;
    }
    const repair = new KeyspaceRepair({ ...partsOf(options, cluster), dyingPlace: DYING_PLACE }, found);
    for (const one of found.unreadable) {
      print([`damaged: the value of ${one.key} ${one.what}`]);
      const done = await repair.repair(one);
      const kept = done?.keptRevision === undefined ? '' : `; kept as it was at revision ${done.keptRevision} of etcd`;
      print([
        done === undefined
          ? `changed meanwhile: ${one.key}`
          : `lost: ${one.key}${kept}; its value is in ${done.keptIn}`,
      ]);
    }
    const { orphans, unnoted } = await inspect(options, cluster, undefined);
    for (const orphan of orphans) if (await repair.remove(orphan)) print([`removed: ${orphan.what}`]);
    for (const one of unnoted) if (await repair.note(one)) print([`noted: ${one.what}`]);
    const { problems, objects } = await inspect(options, cluster, undefined);
    print(problems.map((problem) => `left: ${problem}`));
    print([`repaired: ${objects} objects`]);
  });
}

/** Brings everything under the first provider of each resource. */
export function reencryptEtcd(argv: readonly string[]): Promise<void> {
  return onEtcd('reencrypt', argv, async (options, cluster) => {
    refuseOtherLayout(
      'reencrypt',
      options,
      'write the objects again through a server, each as it is (kubectl replace)',
    );
    const encryption = encryptionOf(options);
    if (encryption === undefined) throw usageOf('reencrypt');
    const dialect = DIALECTS[options.apiDialect];
    const { objects, rewritten } = await reencryptShared({
      ...partsOf(options, cluster),
      engine: new EtcdEngine({
        cluster: new EtcdClient(etcdAccess(options), timers),
        prefix: options.storePrefix,
        dialect: dialect.name,
        timers,
        processId: randomUUID(),
        tokenKey: randomBytes(32),
        warn,
      }),
      encryption,
      media: options.storageMediaType === dialect.protobufMediaType ? 'protobuf' : 'json',
    });
    print([
      `rewritten: ${rewritten} of ${objects} objects`,
      'older versions stay under their keys until etcd is compacted (--store-compaction-interval) and defragmented',
    ]);
  });
}

/** Saves the whole etcd, as etcd's own tools do. */
export async function snapshotEtcd(file: string, argv: readonly string[]): Promise<void> {
  await onEtcd('snapshot FILE', argv, async (_options, cluster) => {
    const { version } = await askedAgain(timers, () => cluster.status());
    const bytes = await saveEtcd(cluster, file);
    print([
      `saved an etcd ${version}, ${bytes} bytes with their hash, in ${file}`,
      'etcdctl snapshot restore makes members of it again (etcdutl from etcd 3.5 on); all servers are stopped meanwhile',
    ]);
  });
}

function partsOf(options: ServerOptions, cluster: EtcdClient) {
  return { cluster, prefix: options.storePrefix, timers };
}

function inspect(
  options: ServerOptions,
  cluster: EtcdClient,
  encryption: StoredEncryption | undefined,
): Promise<KeyspaceInspection> {
  const parts = { ...partsOf(options, cluster), dyingPlace: DYING_PLACE };
  return inspectKeyspace(encryption === undefined ? parts : { ...parts, encryption });
}

function encryptionOf(options: ServerOptions): StoredEncryption | undefined {
  const { encryptionProviderConfig, apiDialect } = options;
  if (encryptionProviderConfig === '') return undefined;
  const entries = readEncryptionFile(encryptionProviderConfig, DIALECTS[apiDialect]);
  return encryptionFor(entries, registryFor({ dialect: apiDialect, options }), realEnvironment);
}

async function onEtcd(
  command: string,
  argv: readonly string[],
  work: (options: ServerOptions, cluster: EtcdClient) => Promise<void>,
): Promise<void> {
  const parsed = parseArguments('up', argv);
  if (parsed.action !== 'run' || parsed.options.storeServers.length === 0) throw usageOf(command);
  const cluster = new EtcdClient(etcdAccess(parsed.options), timers);
  try {
    await keptAlive(() => work(parsed.options, cluster));
  } finally {
    cluster.close();
  }
}

function usageOf(command: string): UsageError {
  const more = command === 'reencrypt' ? ' --encryption-provider-config FILE' : '';
  return new UsageError(`usage: orch store ${command} --store-servers URLS${more} [OPTIONS of the server]`);
}

function contents({ place, identity, objects, encrypted, revision, bytes }: KeyspaceInspection): readonly string[] {
  return [
    `store ${place}`,
    `dialect ${identity?.dialect ?? 'unknown'}`,
    `objects ${objects}, of which ${encrypted} are encrypted`,
    `read at revision ${revision} of etcd`,
    `bytes ${bytes}`,
  ];
}
