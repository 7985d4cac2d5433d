// Health endpoints (SPEC.md "Health endpoints"): named checks, each of which asks the part it speaks of. What is not there
// has no check.
import type { Dialect } from '../../../config/dialect.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Clock } from '../../../runtime/environment.ts';
import { isOrchError, type OrchErrorCode } from '../../../runtime/errors.ts';
import type { AdmissionProtocol } from '../../admission/protocol.ts';
import type { ControllersProtocol, HookState } from '../../controllers/protocol.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import type { StoreProtocol } from '../../store/protocol.ts';
import type { RequestLimits } from '../fairness/request-limits.ts';
import { type CheckResult, type HealthReport, reportOf, reportOfOne } from './health-report.ts';

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';
const ENDPOINTS: readonly HealthEndpoint[] = ['healthz', 'livez', 'readyz'];

export interface HealthParts {
  readonly store: Ref<StoreProtocol>;
  readonly hub: Ref<HubProtocol>;
  readonly admission: Ref<AdmissionProtocol>;
  readonly controllers: Ref<ControllersProtocol>;
  readonly isLogWritable: () => boolean;
  readonly dialect: Dialect;
  /** Checks of the post-start hooks that the controllers report. */
  readonly startHooks: readonly string[];
  readonly limits: Pick<RequestLimits, 'isFair' | 'isTold' | 'count'>;
  readonly isDraining: () => boolean;
  /** Since the server started. */
  readonly uptimeMs: () => number;
  readonly livezGracePeriodMs: number;
  readonly checkTimeoutMs: number;
  /** Key management services of the encryption at rest; absent: none. */
  readonly keyServices?: number;
}

/** What several checks of a report go by: it is asked for once. */
interface Findings {
  /** Undefined: the controllers were silent. */
  readonly hooks: () => Promise<readonly HookState[] | undefined>;
  readonly hub: () => Promise<CheckResult>;
}

/** How one check is made. */
interface Check {
  readonly run: (findings: Findings) => CheckResult | Promise<CheckResult>;
  /** Liveness trusts for a while that it will hold. */
  readonly isHook?: boolean;
  readonly ofReadinessOnly?: boolean;
}

const ADMISSION_HOOK = 'poststarthook/start-@short-apiserver-admission-initializer';
/** Here the hub is what informers are. */
const INFORMERS_HOOK = 'poststarthook/generic-apiserver-start-informers';
/** Who follows the flow schemas and levels: the controllers, who tell this ingress. */
const FLOWS_HOOK = 'poststarthook/priority-and-fairness-config-consumer';
const FAIR_HOOK = 'poststarthook/priority-and-fairness-filter';
const LIMITS_HOOK = 'poststarthook/max-in-flight-filter';

const SILENT: CheckResult = 'it did not answer in time';
const SILENCE: ReadonlySet<OrchErrorCode> = new Set(['DeadlineExceeded', 'Overloaded']);

export class Health {
  readonly #parts: HealthParts;
  /** Hooks that were found done: one stays so while an actor that has too much to do is silent. */
  readonly #done = new Set<string>();
  /** By name, in the order they are listed. */
  readonly #checks: ReadonlyMap<string, Check>;

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const { dialect, keyServices = 0, startHooks } = parts;
    this.#checks = new Map<string, Check>([
      ['ping', { run: () => '' }],
      ['log', { run: () => (parts.isLogWritable() ? '' : 'the log cannot be written') }],
      [dialect.storeCheck, { run: () => this.#store() }],
      ...Array.from({ length: keyServices }, (_, number): [string, Check] => [
        `kms-provider-${number}`,
        { run: () => this.#keyService(number) },
      ]),
      ['informer-sync', { run: ({ hub }) => hub(), ofReadinessOnly: true }],
      [dialect.spell(ADMISSION_HOOK), { run: () => this.#admission(), isHook: true }],
      [INFORMERS_HOOK, { run: ({ hub }) => hub(), isHook: true }],
      ...this.#limitChecks(),
      ...startHooks.map((name): [string, Check] => [
        name,
        { run: async ({ hooks }) => hookResult(await hooks(), name), isHook: true },
      ]),
      ['shutdown', { run: () => (parts.isDraining() ? 'the server is shutting down' : ''), ofReadinessOnly: true }],
    ]);
  }

  #limitChecks(): readonly (readonly [string, Check])[] {
    const { limits, startHooks } = this.#parts;
    const isTold: Check = { run: () => (limits.isTold ? '' : 'the flow schemas are not known yet'), isHook: true };
    // Who asks is among them.
    const isCounting: Check = { run: () => (limits.count > 0 ? '' : 'no request is counted'), isHook: true };
    if (!limits.isFair) return [[LIMITS_HOOK, isCounting]];
    return startHooks.length === 0
      ? [[FAIR_HOOK, isCounting]]
      : [
          [FLOWS_HOOK, isTold],
          [FAIR_HOOK, isCounting],
        ];
  }

  /** The checks an endpoint runs, in the order it lists them. */
  checkNames(endpoint: HealthEndpoint): readonly string[] {
    const names = [...this.#checks.keys()];
    return endpoint === 'readyz' ? names : names.filter((name) => this.#checks.get(name)?.ofReadinessOnly !== true);
  }

  /** Every path there is: the endpoints, and each of their checks. */
  paths(): readonly string[] {
    return ENDPOINTS.flatMap((endpoint) => [
      `/${endpoint}`,
      ...this.checkNames(endpoint).map((name) => `/${endpoint}/${name}`),
    ]);
  }

  /** Runs all checks of an endpoint but the excluded ones. */
  async report(endpoint: HealthEndpoint, excluded: ReadonlySet<string>, verbose: boolean): Promise<HealthReport> {
    const names = this.checkNames(endpoint);
    const results = await this.#run(
      endpoint,
      names.filter((name) => !excluded.has(name)),
    );
    return reportOf(endpoint, { names, results, excluded, verbose });
  }

  /** Runs one check; undefined when there is none of that name. */
  async single(endpoint: HealthEndpoint, name: string): Promise<HealthReport | undefined> {
    if (!this.checkNames(endpoint).includes(name)) return undefined;
    return reportOfOne(name, (await this.#run(endpoint, [name])).get(name) ?? '');
  }

  async #run(endpoint: HealthEndpoint, names: readonly string[]): Promise<Map<string, CheckResult>> {
    const findings = { hooks: once(() => this.#hooks()), hub: once(() => this.#hub()) };
    const forgiving = endpoint !== 'readyz' && this.#parts.uptimeMs() < this.#parts.livezGracePeriodMs;
    const results = await Promise.all(
      names.map(async (name): Promise<readonly [string, CheckResult]> => {
        const check = this.#checks.get(name)!;
        if (check.isHook !== true) return [name, await check.run(findings)];
        return [name, forgiving ? '' : await this.#hookResult(name, check, findings)];
      }),
    );
    return new Map(results);
  }

  /** What an actor says counts, and that it is gone; not that it says nothing in time of what was done once. */
  async #hookResult(name: string, { run }: Check, findings: Findings): Promise<CheckResult> {
    const result = await run(findings);
    if (result === '') this.#done.add(name);
    return result === SILENT && this.#done.has(name) ? '' : result;
  }

  #store(): Promise<CheckResult> {
    return answerOf('store', async () => {
      const { healthy, reason } = await this.#parts.store.ask({ type: 'health' }, this.#limit);
      return healthy ? '' : reason;
    });
  }

  #keyService(number: number): Promise<CheckResult> {
    return answerOf('store', async () => {
      const { problem } = await this.#parts.store.ask({ type: 'keyServiceHealth', number }, this.#limit);
      return problem;
    });
  }

  #hub(): Promise<CheckResult> {
    return answerOf('hub', async () => {
      const { ready } = await this.#parts.hub.ask({ type: 'status' }, this.#limit);
      return ready ? '' : 'the store has not been read';
    });
  }

  #admission(): Promise<CheckResult> {
    return answerOf('admission', async () => {
      const { ready } = await this.#parts.admission.ask({ type: 'status' }, this.#limit);
      return ready ? '' : 'the store has not been read';
    });
  }

  get #limit(): { readonly deadlineMs: number } {
    return { deadlineMs: this.#parts.checkTimeoutMs };
  }

  async #hooks(): Promise<readonly HookState[] | undefined> {
    try {
      return (await this.#parts.controllers.ask({ type: 'hooks' }, this.#limit)).hooks;
    } catch (error) {
      return isSilence(error) ? undefined : [];
    }
  }
}

/** What an actor says of itself, or that it says nothing. */
async function answerOf(actor: string, ask: () => Promise<CheckResult>): Promise<CheckResult> {
  try {
    return await ask();
  } catch (error) {
    if (isSilence(error)) return SILENT;
    return isOrchError(error) ? `${actor} did not answer: ${error.code}` : String(error);
  }
}

/** True where an actor has too much to do, or hangs: not where it is gone. */
function isSilence(error: unknown): boolean {
  return isOrchError(error) && SILENCE.has(error.code);
}

function hookResult(hooks: readonly HookState[] | undefined, name: string): CheckResult {
  if (hooks === undefined) return SILENT;
  const hook = hooks.find((state) => state.name === name);
  if (hook === undefined) return 'the controllers did not report it';
  return hook.done ? '' : hook.failure || 'not done yet';
}

/** How long a server runs that was started at a moment: however the clock on the wall is set after this thread has begun. */
export function uptimeBy(clock: Clock, startedWallMs: number): () => number {
  const beforeMs = clock.nowMs() - startedWallMs - clock.monotonicMs();
  return () => beforeMs + clock.monotonicMs();
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
