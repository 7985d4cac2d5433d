// What an ingress is told at its start. Plain declarations: the values are made in actor.ts.
import type { RemoteGroups } from '../../api/aggregation/remote-groups.ts';
import type { BuildInfo } from '../../api/discovery/discovery.ts';
import type { Registry } from '../../api/resources/registry.ts';
import type { ProtobufRecords } from '../../rendering/protobuf-records.ts';
import type { JobPool } from '../../runtime/jobs/job-pool.ts';
import type { MetricsRules } from '../../runtime/metrics/metrics-rules.ts';
import type { ComponentRecording } from '../auditing/component-audit.ts';
import type { AggregationSettings } from './aggregation/backends.ts';
import type { ConnectSettings } from './connect/connect.ts';
import type { RequestLimitOptions } from './fairness/request-limits.ts';
import type { IngressListenerOptions } from './ingress-listener.ts';
import type { ServedApi } from './paths/openapi-worker.ts';
import type { IdentityHeaders } from './pipeline/proxied-identity.ts';
import type { ListPaging } from './reads/lists.ts';
import type { TracerParts } from './tracing/tracer.ts';

export interface IngressOptions extends IngressListenerOptions, RequestLimitOptions {
  readonly registry: Registry;
  /** Which groups other servers answer for. */
  readonly remotes: RemoteGroups;
  readonly aggregation: AggregationSettings;
  /** Which requests are recorded, and whether they wait for it. Absent: none. */
  readonly audit: ComponentRecording | undefined;
  /** Absent: as the gates are by default. */
  readonly paging?: ListPaging;
  /** Absent: requests are not traced. */
  readonly tracing?: TracerParts | undefined;
  /** The thread's records as Protobuf. */
  readonly records: ProtobufRecords;
  readonly openapi: ServedApi;
  /** The thread's pool for long work. */
  readonly jobs: JobPool;
  /** What large objects may take of the heap together that are rendered for answers. */
  readonly heapRoomBytes: number;
  readonly identityHeaders?: IdentityHeaders | undefined;
  /** Clients may show a name and a password: those that are refused are told so. */
  readonly takesPasswords: boolean;
  /** Of one client connection, for long-running answers; 0: no limit. */
  readonly connectionBytesPerSecondMax: number;
  /** Long answers are compressed for clients that take gzip. */
  readonly compressesAnswers: boolean;
  readonly requestTimeoutMs: number;
  readonly minRequestTimeoutMs: number;
  readonly livezGracePeriodMs: number;
  readonly healthcheckTimeoutMs: number;
  /** Checks of the post-start hooks that the controllers report; none without controllers. */
  readonly startHooks: readonly string[];
  /** Key management services of the encryption at rest. */
  readonly keyServices: number;
  readonly serverAddress: string;
  /** Feature gate StorageVersionHash: discovery says a hash of the version that objects are stored in. */
  readonly tellsStorageVersions: boolean;
  /** Feature gate WarningHeaders: clients hear of what is deprecated. */
  readonly warningHeaders: boolean;
  /** What the store's keys begin with. */
  readonly storePrefix: string;
  /** Profiles of the threads, below /debug/pprof/. */
  readonly servesProfiles: boolean;
  readonly metricsRules: MetricsRules;
  readonly build: BuildInfo;
  readonly connect: ConnectSettings;
  /** Wall time of the process start. */
  readonly startedWallMs: number;
}
