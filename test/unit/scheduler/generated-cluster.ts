// Clusters and pods drawn by lot, rich in what plug-ins look at: few values of each kind, so that demands meet.
import type { Random } from '../../../runtime/environment.ts';
import { dialect } from './objects.ts';
import type { Constraint, Expression, RefNode, RefPod, RefService, Term } from './reference.ts';

export const HOSTNAME = dialect.spell('@label/hostname');
export const ZONE = dialect.spell('topology.@label/zone');
export const AVOID = dialect.spell('scheduler.alpha.@label/preferAvoidPods');
const RACK = 'rack';
const DISK = 'disk';
const SIZE = 'size';
const APPS = ['web', 'db', 'cache'];
const NAMESPACES = ['default', 'other'];
const IMAGES = ['web:1', 'db:1', 'big:2'];
/** Those that pods belong to; a daemon set's are never avoided. */
const OWNERS = [
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'rs-1', controller: true },
  { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc', uid: 'rc-1', controller: true },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: 'ds-1', controller: true },
];
const TAINTS = ['dedicated', 'old'];

export class Generator {
  private readonly random: Random;
  private made = 0;

  constructor(random: Random) {
    this.random = random;
  }

  chance(share: number): boolean {
    return this.random.next() < share;
  }

  pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.random.next() * of.length)]!;
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.random.next() * (most - least + 1));
  }

  node(name: string): RefNode {
    const labels: Record<string, string> = { [HOSTNAME]: name };
    if (this.chance(0.8)) labels[ZONE] = this.pick(['za', 'zb', 'zc']);
    if (this.chance(0.7)) labels[RACK] = this.pick(['r1', 'r2']);
    if (this.chance(0.5)) labels[DISK] = this.pick(['ssd', 'hdd']);
    if (this.chance(0.5)) labels[SIZE] = String(this.whole(1, 9));
    const taints = TAINTS.filter(() => this.chance(0.15)).map((key) => ({
      key,
      value: this.pick(['', 'x']),
      effect: this.pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule']),
    }));
    const annotations = this.chance(0.1) ? { [AVOID]: avoiding(this.pick(OWNERS)) } : {};
    return {
      metadata: { name, labels, annotations },
      spec: { ...(this.chance(0.08) ? { unschedulable: true } : {}), taints },
      status: {
        allocatable: {
          cpu: String(this.pick([2, 4, 8])),
          memory: `${this.pick([2, 4, 16])}Gi`,
          pods: String(this.pick([4, 10, 30])),
          ...(this.chance(0.3) ? { 'example.com/gpu': String(this.whole(1, 4)) } : {}),
        },
        images: IMAGES.filter(() => this.chance(0.3)).map((name) => ({
          names: [name],
          sizeBytes: this.whole(10, 1500) * 1024 ** 2,
        })),
      },
    };
  }

  service(namespace: string, app: string): RefService {
    return { metadata: { namespace, name: app }, spec: { selector: { app } } };
  }

  pod(): RefPod {
    const name = `p${this.made++}`;
    const labels: Record<string, string> = { app: this.pick(APPS) };
    if (this.chance(0.4)) labels.tier = this.pick(['front', 'back']);
    const containers = Array.from({ length: this.whole(1, 2) }, (_, at) => this.container(at));
    const owned = this.chance(0.4) ? { ownerReferences: [this.pick(OWNERS)] } : {};
    return {
      metadata: { namespace: this.pick(NAMESPACES), name, uid: `uid-${name}`, labels, ...owned },
      spec: { schedulerName: 'default-scheduler', containers, ...this.placement() },
    };
  }

  private container(at: number) {
    const requests: Record<string, string> = {};
    if (this.chance(0.8)) requests.cpu = `${this.pick([50, 100, 333, 900])}m`;
    if (this.chance(0.7)) requests.memory = `${this.pick([64, 200, 700])}Mi`;
    if (this.chance(0.1)) requests['example.com/gpu'] = '1';
    const ports = this.chance(0.1)
      ? [
          {
            hostPort: this.pick([80, 443]),
            ...(this.chance(0.5) ? { hostIP: this.pick(['10.0.0.1', '0.0.0.0']) } : {}),
            ...(this.chance(0.3) ? { protocol: 'UDP' } : {}),
          },
        ]
      : [];
    return { name: `c${at}`, image: this.pick(IMAGES), resources: { requests }, ports };
  }

  private placement(): Partial<RefPod['spec']> {
    return {
      ...(this.chance(0.15) ? { nodeSelector: { [this.pick([DISK, RACK])]: this.pick(['ssd', 'r1']) } } : {}),
      ...(this.chance(0.4) ? { tolerations: this.tolerations() } : {}),
      ...(this.chance(0.35) ? { topologySpreadConstraints: this.constraints() } : {}),
      ...(this.chance(0.6) ? { affinity: this.affinity() } : {}),
    };
  }

  private tolerations() {
    return Array.from({ length: this.whole(1, 2) }, () => ({
      ...(this.chance(0.8)
        ? { key: this.pick([...TAINTS, dialect.spell('node.@label/unschedulable')]) }
        : { operator: 'Exists' as const }),
      ...(this.chance(0.5) ? { operator: 'Exists' as const } : { value: 'x' }),
      ...(this.chance(0.6) ? { effect: this.pick(['NoSchedule', 'NoExecute', 'PreferNoSchedule']) } : {}),
    })).map((each) => ('key' in each ? each : { ...each, operator: 'Exists' as const }));
  }

  private selector(): Readonly<Record<string, string>> {
    return this.chance(0.8) ? { app: this.pick(APPS) } : { tier: this.pick(['front', 'back']) };
  }

  private constraints(): Constraint[] {
    const keys = [HOSTNAME, ZONE, RACK].filter(() => this.chance(0.5));
    return (keys.length === 0 ? [ZONE] : keys).map((topologyKey) => ({
      topologyKey,
      maxSkew: this.whole(1, 3),
      whenUnsatisfiable: this.pick(['DoNotSchedule', 'ScheduleAnyway']),
      labelSelector: { matchLabels: this.selector() },
    }));
  }

  private term(): Term {
    return {
      topologyKey: this.pick([HOSTNAME, ZONE, RACK]),
      labelSelector: { matchLabels: this.selector() },
      ...(this.chance(0.3) ? { namespaces: [this.pick(NAMESPACES)] } : {}),
    };
  }

  private podAffinity(requiredShare: number) {
    return {
      ...(this.chance(requiredShare)
        ? {
            requiredDuringSchedulingIgnoredDuringExecution: Array.from({ length: this.whole(1, 2) }, () => this.term()),
          }
        : {}),
      ...(this.chance(0.6)
        ? {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: this.whole(1, 100), podAffinityTerm: this.term() },
            ],
          }
        : {}),
    };
  }

  private expression(): Expression {
    const operator = this.pick(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const);
    if (operator === 'Gt' || operator === 'Lt') return { key: SIZE, operator, values: [String(this.whole(1, 9))] };
    const key = this.pick([DISK, RACK, ZONE]);
    return operator === 'Exists' || operator === 'DoesNotExist'
      ? { key, operator }
      : { key, operator, values: [this.pick(['ssd', 'r1', 'za', 'zb'])] };
  }

  private affinity(): NonNullable<RefPod['spec']['affinity']> {
    const expressions = () => Array.from({ length: this.whole(1, 2) }, () => this.expression());
    return {
      ...(this.chance(0.3)
        ? {
            nodeAffinity: {
              ...(this.chance(0.5)
                ? {
                    requiredDuringSchedulingIgnoredDuringExecution: {
                      nodeSelectorTerms: Array.from({ length: this.whole(1, 2) }, () => ({
                        matchExpressions: expressions(),
                      })),
                    },
                  }
                : {}),
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: this.whole(1, 100), preference: { matchExpressions: expressions() } },
              ],
            },
          }
        : {}),
      ...(this.chance(0.5) ? { podAffinity: this.podAffinity(0.3) } : {}),
      ...(this.chance(0.5) ? { podAntiAffinity: this.podAffinity(0.4) } : {}),
    };
  }

  apps(): readonly string[] {
    return APPS;
  }

  namespaces(): readonly string[] {
    return NAMESPACES;
  }
}

function avoiding({ kind, uid }: { readonly kind: string; readonly uid: string }): string {
  return JSON.stringify({ preferAvoidPods: [{ podSignature: { podController: { kind, uid } } }] });
}
