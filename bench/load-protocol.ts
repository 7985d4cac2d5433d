// What travels between the bench's own processes: the jobs of the load generator and of the floors, and what they
// answer. Types only, plain data.
import type { DeliveryFaults } from './delivery-order.ts';

/** Where a load goes. Loopback only. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: EndpointTls;
  /** The whole value of the Authorization header. */
  readonly authorization?: string;
}

export interface EndpointTls {
  /** PEM. Absent: the server's certificate is not verified. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate is for, where that is another than its host. */
  readonly servername?: string;
}

/**
 * One request, as data. Path and body may hold `{seq}` (8 digits, another one for each request), `{object}` (8 digits,
 * the object it is about) and `{version}` (a JSON string: the object's last seen resourceVersion, empty at first).
 */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly contentType?: string;
  /** JSON by default. */
  readonly accept?: string;
  readonly body?: string;
}

/** A load ends at whichever comes first. */
export interface LoadBounds {
  readonly seconds: number;
  readonly count: number;
  /** Runs before anything is counted, on top of `seconds`. 0 with a load that is bounded by its count. */
  readonly warmupSeconds: number;
}

/** A closed loop: every connection has one request outstanding. */
export interface RequestJob {
  readonly type: 'requests';
  readonly endpoint: Endpoint;
  readonly connections: number;
  readonly request: RequestTemplate;
  /** How many objects `{object}` ranges over. */
  readonly objects: number;
  /** `shared`: requests take the objects in turn. `owned`: every connection has objects that no other one touches. */
  readonly objectChoice: 'shared' | 'owned';
  /** The request is a list, asked for in pages of so many; a list is then one operation. */
  readonly pageLimit?: number;
  /** How long a connection waits after an answer before it asks again; at once by default. */
  readonly pauseMs?: number;
  /** How long what is under way after the last second is waited for; what has no answer then is an error. 15 by default. */
  readonly drainSeconds?: number;
  /** An answer with fewer bytes in its body is not what was asked for. */
  readonly answerBytesMin?: number;
  /** Remember the resourceVersion of each answer for `{version}`. */
  readonly capturesVersion: boolean;
  readonly bounds: LoadBounds;
  /** Whose CPU and memory to read from /proc. */
  readonly serverPid?: number;
}

export type EventEncoding = 'json' | 'protobuf';

/** Watchers, and a writer whose writes they see. */
export interface WatchJob {
  readonly type: 'watch';
  readonly endpoint: Endpoint;
  readonly watchPath: string;
  readonly watchers: number;
  /** Watches beside these that read nothing after their first answer. They are not counted. */
  readonly stalled?: number;
  /** Watches on one HTTP/2 connection; absent: HTTP/1.1, a connection each. */
  readonly streamsEach?: number;
  /** The media type of the watches; JSON by default. */
  readonly accept?: string;
  /** What stands before a write's number in its events, by the watches' encoding; `json` by default. */
  readonly encoding?: EventEncoding;
  /** Every how many watchers one takes part in the latency figures. */
  readonly sampleEvery: number;
  /** Count the first event of each write only: several events follow one write. Needs every watcher sampled. */
  readonly firstEventOnly: boolean;
  readonly write: RequestTemplate;
  readonly writers: number;
  /** Absent: flat out. */
  readonly writesPerSecond?: number;
  /** Writes that may be acknowledged or under way and not yet seen by all watchers. Keeps slow readers in the window. */
  readonly windowWrites: number;
  /** Time for the last events to arrive after the last write. */
  readonly drainSeconds: number;
  readonly bounds: LoadBounds;
  readonly serverPid?: number;
}

/** Requests that are all sent at once, over HTTP/2; `{seq}` and `{object}` are a request's number in each text, and in the token. */
export interface CrowdJob {
  readonly type: 'crowd';
  readonly endpoint: Endpoint;
  readonly request: RequestTemplate;
  readonly requests: number;
  readonly streamsEach: number;
  /** How long answers are waited for. */
  readonly bounds: LoadBounds;
  readonly serverPid?: number;
}

export type LoadJob = RequestJob | WatchJob | CrowdJob;

export interface LatencySummary {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** How many latencies were at most so many milliseconds, and above the bound before. Bounds grow. */
export type LatencyBuckets = readonly (readonly [upToMs: number, count: number])[];

export interface LoadResult {
  /** Requests answered 2xx, or delivered events. */
  readonly operations: number;
  readonly seconds: number;
  /** Of a request; of an event from the acknowledgement of its write. */
  readonly latency: LatencySummary;
  /** Of an event from the moment its write was sent. */
  readonly sentToSeen?: LatencySummary;
  /** Of the writes that events follow, from sent to acknowledged. */
  readonly writeLatency?: LatencySummary;
  /** Of a watch load: the distribution behind `sentToSeen`, and what is wrong with the deliveries to all watchers. */
  readonly buckets?: LatencyBuckets;
  readonly faults?: DeliveryFaults;
  /** Of a watch load that writes nothing: what the server takes while they are open. */
  readonly rssBytes?: number;
  /** Body bytes of the counted operations. */
  readonly bodyBytes: number;
  /** Writes acknowledged while events were counted; equals `operations` for a request load. */
  readonly writes: number;
  /** Of a crowd: answers of 429, which are no errors there. */
  readonly refused?: number;
  /** Answers other than 2xx or too short, requests and watches without one, connections lost, watches ended, events that never came. */
  readonly errors: number;
  /** The first of them, for a reader. */
  readonly firstError?: string;
  /** Absent where there was none. */
  readonly generatorCpuSeconds?: number;
  /** Absent where the server's pid is unknown or the system has no /proc. */
  readonly serverCpuSeconds?: number;
  readonly serverRssBytes?: number;
  /** CPU time of everything on the machine meanwhile. */
  readonly machineCpuSeconds?: number;
}

/** Answers of the load generator process. */
export type LoadReply = { readonly ok: LoadResult } | { readonly failed: string };

/** What the load generator tells now and then before its answer. */
export interface LoadProgress {
  readonly progress: {
    readonly elapsedSeconds: number;
    readonly totalSeconds: number;
    readonly operations: number;
    readonly errors: number;
  };
}

/** Starts the bare listener. Answers `{ port }`. */
export interface ListenerJob {
  readonly keyFile: string;
  readonly certFile: string;
}

/** Opens the bare server on an empty folder. Answers `{ port }`. */
export interface BareServerJob extends ListenerJob {
  readonly directory: string;
}

/** Opens an admission webhook that allows everything. Answers `{ port }`. */
export interface WebhookJob extends ListenerJob {
  /** How long what is asked under `/slow` waits for its answer. */
  readonly slowMs: number;
}

/** Opens an extension server. Answers `{ port }`. */
export interface ExtensionJob extends ListenerJob {
  /** An address that is not loopback: extension servers are called at no other. */
  readonly host: string;
  /** What the path of its group and version is answered; every other is answered `document`. */
  readonly discovery: string;
  readonly document: string;
}

/** Writes batches to a bare engine. Answers a LoadReply. */
export interface EngineJob {
  /** Must exist and be empty. */
  readonly directory: string;
  readonly batchOperations: number;
  readonly valueBytes: number;
  /** How many keys there are; writes go round them. Infinity is not JSON: take the count for keys that never repeat. */
  readonly keys: number;
  readonly bounds: LoadBounds;
}

/** Reads a store from end to end. Answers a LoadReply of one operation. */
export interface ScanJob {
  /** A LevelDB that nobody has open. */
  readonly directory: string;
}

/** What the warden is told of a server. */
export interface WatchedServer {
  readonly pid: number;
  readonly isRunning: boolean;
}
