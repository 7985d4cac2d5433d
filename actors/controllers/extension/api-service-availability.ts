// Keeps the condition Available of APIServices: of those that this server answers for itself at once, of the others as an ingress
// finds that they can be reached, which is tried again from time to time and when their service changes.
import { type ApiService, readApiService, statedAvailability } from '../../../api/aggregation/api-service.ts';
import { type Finding, LOCAL, statusWith } from '../../../api/aggregation/availability.ts';
import { asText, partAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import { apiServerIdentity } from '../identities.ts';

const CHECK_AGAIN_MS = 30_000;
/** After a failure, twice as long after each further one. */
const FAILED_AGAIN_MS = 250;

/** Tries whether a server can be reached. Rejects where nobody can try. */
export type TryApiService = (name: string) => Promise<Finding | undefined>;

interface Known {
  readonly object: ApiObject;
  readonly apiService: ApiService;
}

/** What was found last, and when it is looked at again. */
interface Check {
  finding: Finding | undefined;
  againAtMs: number;
  failures: number;
}

const UNAVAILABLE = 'aggregator_unavailable_apiservice';
const TIMES_UNAVAILABLE = 'aggregator_unavailable_apiservice_total';

/** The controller of the availability of extension servers. Keys are names of APIServices. */
export class ApiServiceAvailability implements Controller {
  readonly name = 'apiservice-availability';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 8;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #group: string;
  readonly #storageKey: string;
  readonly #tryOne: TryApiService;
  readonly #metrics: Metrics;
  readonly #known = new Map<string, Known>();
  readonly #checks = new Map<string, Check>();

  constructor(clock: Clock, due: Due, dialect: Dialect, tryOne: TryApiService, metrics: Metrics) {
    this.#metrics = metrics;
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#tryOne = tryOne;
    this.#group = dialect.spell('apiregistration.@group');
    this.#storageKey = `${this.#group}/apiservices`;
    this.wants = [this.#storageKey, 'core/services', 'core/endpoints'];
  }

  reset(): void {
    for (const name of this.#known.keys()) this.#unavailable(name).set(0);
    this.#known.clear();
    this.#checks.clear();
  }

  onEvent(event: FeedEvent): void {
    const { name, storageKey } = event;
    if (storageKey !== this.#storageKey) this.#onService(event);
    else if (event.type === 'delete') {
      this.#forget(name);
      this.#known.delete(name);
      this.#checks.delete(name);
    } else {
      const object = event.object();
      const apiService = readApiService(object);
      if (!isSame(this.#known.get(name)?.apiService, apiService)) this.#checks.delete(name);
      this.#known.set(name, { object, apiService });
      this.#due.add(name);
      // As it is stored, whichever server has found that out.
      const isAvailable = statedAvailability(object);
      if (isAvailable !== undefined) this.#unavailable(name).set(isAvailable ? 0 : 1);
    }
  }

  onSynced(): void {
    for (const name of this.#known.keys()) this.#due.add(name);
  }

  plan(key: string): Plan {
    const known = this.#known.get(key);
    if (known === undefined) return NOTHING;
    if (known.apiService.backend === undefined) return this.#planStatus(known, LOCAL);
    const check = this.#checks.get(key);
    const nowMs = this.#clock.monotonicMs();
    if (check === undefined || nowMs >= check.againAtMs) {
      this.#begin(key, check);
      return NOTHING;
    }
    const { finding, againAtMs } = check;
    const { writes } = finding === undefined ? NOTHING : this.#planStatus(known, finding);
    return { writes, ...(Number.isFinite(againAtMs) ? { againAfterMs: againAtMs - nowMs } : {}) };
  }

  #begin(name: string, last: Check | undefined): void {
    const check: Check = {
      finding: last?.finding,
      againAtMs: Number.POSITIVE_INFINITY,
      failures: last?.failures ?? 0,
    };
    this.#checks.set(name, check);
    const end = (finding: Finding | undefined): void => {
      if (this.#checks.get(name) !== check) return;
      if (finding !== undefined) this.#measure(name, check.finding, finding);
      check.finding = finding ?? check.finding;
      check.failures = finding?.status === 'True' ? 0 : check.failures + 1;
      const waitMs =
        check.failures === 0 ? CHECK_AGAIN_MS : Math.min(CHECK_AGAIN_MS, FAILED_AGAIN_MS * 2 ** (check.failures - 1));
      check.againAtMs = this.#clock.monotonicMs() + waitMs;
      this.#due.add(name);
    };
    this.#tryOne(name).then(end, () => end(undefined));
  }

  /** Counts what has become unavailable. */
  #measure(name: string, before: Finding | undefined, { status, reason }: Finding): void {
    if (status === 'True' || (before !== undefined && before.status !== 'True')) return;
    const help = 'Times that the server of an APIService could not be reached any more.';
    this.#metrics.counter(TIMES_UNAVAILABLE, help, { name, reason }).add(1);
  }

  #unavailable(name: string): Series {
    const help = '1 where the server of an APIService cannot be reached.';
    return this.#metrics.gauge(UNAVAILABLE, help, { name }, 'max');
  }

  /** Each version of a group that a definition makes has an APIService: those that are gone would be told of for ever. */
  #forget(gone: string): void {
    this.#metrics.forget(
      ({ name }, metric) => name === gone && (metric === UNAVAILABLE || metric === TIMES_UNAVAILABLE),
    );
  }

  /** Of a service or its endpoints. */
  #onService({ namespace, name }: FeedEvent): void {
    for (const [key, { apiService }] of this.#known) {
      const { backend } = apiService;
      if (backend?.namespace !== namespace || backend.service !== name) continue;
      this.#checks.delete(key);
      this.#due.add(key);
    }
  }

  #planStatus({ object }: Known, finding: Finding): Plan {
    const present = partAt(object, 'status');
    const status = statusWith(present, finding, timestampOf(this.#clock.nowMs()));
    if (status === present) return NOTHING;
    const { version } = splitApiVersion(asText(object.apiVersion));
    const target = {
      group: this.#group,
      version,
      resource: 'apiservices',
      subresource: 'status',
      namespace: '',
      name: asText(partAt(object, 'metadata').name),
    };
    return { writes: [{ verb: 'update', target, body: { ...object, status } }] };
  }
}

/** Whether two say the same of their server. */
function isSame(a: ApiService | undefined, b: ApiService): boolean {
  const words = ({ backend, caPem, insecure }: ApiService): string => JSON.stringify([backend, caPem, insecure]);
  return a !== undefined && words(a) === words(b);
}
