// Which controllers run: those that `--controllers` names. What the API server does by itself is not among them.
import type { ControllerName } from '../../config/controllers.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { FollowedRecords } from '../../storage/records/followed-records.ts';
import { CertificateApproving } from './certificates/certificate-approving.ts';
import { CertificateCleanup } from './certificates/certificate-cleanup.ts';
import { CertificateSigning } from './certificates/certificate-signing.ts';
import type { Controller, Due } from './controller.ts';
import { GarbageCollector } from './garbage/garbage-collector.ts';
import { NamespaceContents } from './namespaces/namespace-contents.ts';
import { NamespaceDefaults } from './namespaces/namespace-defaults.ts';
import { NamespaceLifecycle } from './namespaces/namespace-lifecycle.ts';
import { NodeLabels } from './nodes/node-labels.ts';
import { NodeLifecycle } from './nodes/node-lifecycle.ts';
import { NodePods } from './nodes/node-pods.ts';
import { NodeTaints } from './nodes/node-taints.ts';
import { PodGarbage } from './nodes/pod-garbage.ts';
import type { ControllersOptions, NamespacedType } from './options.ts';
import type { Questions } from './questions.ts';
import { ResourceQuotas } from './quotas/resource-quotas.ts';
import { RemoteListings } from './remote-listings.ts';
import { RoleAggregation } from './role-aggregation.ts';
import { StorageProtection } from './storage-protection.ts';
import { BootstrapTokenCleanup } from './tokens/bootstrap-token-cleanup.ts';
import { ServiceAccountTokens } from './tokens/service-account-tokens.ts';

/** Makes a controller that reports its keys to `due`. */
export type MakeController = (due: Due) => Controller;

interface Parts extends Questions {
  readonly context: ActorContext;
  readonly dialect: Dialect;
}

/** By each group that serves it, a type has a name of its own in quotas, and in what a namespace is said to wait for. */
function servedTypes({ persistedTypes, isServed }: ControllersOptions): readonly NamespacedType[] {
  return persistedTypes.filter(
    ({ namespaced, group, version, plural }) => namespaced && isServed({ group, version, resource: plural }),
  );
}

/** How to make each controller that is to run, in the order in which they hear of changes. */
export function switchable(
  options: ControllersOptions,
  { context, dialect, issue, sweep, lookUp, listRemotes }: Parts,
): readonly MakeController[] {
  const { clock, random } = context;
  const { caPem, customTypes, namespacedTypes, signingAuthority } = options;
  const runs = (name: ControllerName): boolean => options.running.includes(name);
  const gifts = { account: runs('serviceaccount'), caPem: runs('root-ca-cert-publisher') ? caPem : '' };
  const protects = { claims: runs('pvc-protection'), volumes: runs('pv-protection') };
  const contents = new NamespaceContents();
  const records = new FollowedRecords();
  const listings = new RemoteListings(clock, listRemotes);
  const rows: readonly (readonly [isRunning: boolean, make: MakeController])[] = [
    [gifts.account || gifts.caPem !== '', (due) => new NamespaceDefaults(clock, due, dialect, gifts)],
    [
      runs('namespace'),
      (due) => {
        const types = [...namespacedTypes, ...servedTypes(options)];
        return new NamespaceLifecycle(clock, due, dialect, types, customTypes, sweep, { contents, records });
      },
    ],
    [runs('clusterrole-aggregation'), (due) => new RoleAggregation(clock, due, dialect)],
    [runs('podgc'), (due) => new PodGarbage(clock, due, dialect)],
    [protects.claims || protects.volumes, (due) => new StorageProtection(due, dialect, protects)],
    [runs('nodelifecycle'), (due) => new NodeTaints(clock, due, dialect)],
    [runs('nodelifecycle'), (due) => new NodeLabels(due, dialect)],
    [runs('nodelifecycle'), (due) => new NodeLifecycle(clock, due, dialect)],
    [runs('nodelifecycle'), (due) => new NodePods(clock, due, dialect)],
    [
      runs('resourcequota'),
      (due) =>
        new ResourceQuotas(clock, due, dialect, { types: servedTypes(options), customTypes, contents, listings }),
    ],
    [runs('tokencleaner'), (due) => new BootstrapTokenCleanup(clock, due, dialect)],
    [runs('csrapproving'), (due) => new CertificateApproving(due, dialect)],
    [runs('csrcleaner'), (due) => new CertificateCleanup(clock, due, dialect)],
    [
      runs('serviceaccount-token') && options.issuesTokens,
      (due) => new ServiceAccountTokens(clock, due, { dialect, caPem, random, issue }),
    ],
    [
      runs('garbagecollector') && options.collectsGarbage,
      (due) =>
        new GarbageCollector(clock, due, dialect, {
          types: options.persistedTypes,
          customTypes,
          lookUp,
          listings,
          records,
        }),
    ],
  ];
  const made = rows.filter(([isRunning]) => isRunning).map(([, make]) => make);
  if (signingAuthority !== undefined && runs('csrsigning'))
    made.push((due) => new CertificateSigning(context, due, dialect, signingAuthority));
  return made;
}
