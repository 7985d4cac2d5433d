// Health endpoints (SPEC.md "Health endpoints"): named checks, each of which asks the part it speaks of.
import type { Ref } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { ControllersProtocol, HookState } from '../../controllers/protocol.ts';
import type { HubProtocol } from '../../hub/protocol.ts';
import type { StoreProtocol } from '../../store/protocol.ts';

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

/** The outcome of one check: empty when it holds, else why not. */
type CheckResult = string;

export interface HealthParts {
  readonly store: Ref<StoreProtocol>;
  readonly hub: Ref<HubProtocol>;
  readonly controllers: Ref<ControllersProtocol>;
  readonly brand: string;
  readonly isDraining: () => boolean;
  /** Since the server started. */
  readonly uptimeMs: () => number;
  readonly livezGracePeriodMs: number;
  readonly checkTimeoutMs: number;
  /** Key management services of the encryption at rest; absent: none. */
  readonly keyServices?: number;
}

export interface HealthReport {
  readonly healthy: boolean;
  readonly text: string;
}

/**
 * Hooks of parts that live in the hub: done when it has read the store. The roles' hook is among them while no
 * authorization mode reads roles and none are written.
 */
const HUB_HOOKS = [
  'start-@brand-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-@brand-aggregator-informers',
  'apiservice-registration-controller',
  'apiservice-status-available-controller',
  '@brand-apiserver-autoregistration',
  'apiservice-openapi-controller',
  'rbac/bootstrap-roles',
] as const;

/** Hooks the controllers report. */
const CONTROLLER_HOOKS = [
  'bootstrap-controller',
  'scheduling/bootstrap-system-priority-classes',
  'start-cluster-authentication-info-controller',
] as const;

const HOOK_PREFIX = 'poststarthook/';
/** Before a service's number. */
const KEY_SERVICE_PREFIX = 'kms-provider-';
const AUTOREGISTER = 'autoregister-completion';

export class Health {
  readonly #parts: HealthParts;
  readonly #hubHooks: ReadonlySet<string>;
  readonly #names: readonly string[];

  constructor(parts: HealthParts) {
    this.#parts = parts;
    const hubHooks = HUB_HOOKS.map((name) => HOOK_PREFIX + name.replace('@brand', parts.brand));
    this.#hubHooks = new Set([...hubHooks, AUTOREGISTER]);
    this.#names = [
      'ping',
      'log',
      'store',
      ...Array.from({ length: parts.keyServices ?? 0 }, (_, number) => `${KEY_SERVICE_PREFIX}${number}`),
      ...hubHooks,
      ...CONTROLLER_HOOKS.map((name) => HOOK_PREFIX + name),
      AUTOREGISTER,
      'shutdown',
    ];
  }

  /** The checks an endpoint runs, in the order it lists them. */
  checkNames(endpoint: HealthEndpoint): readonly string[] {
    return endpoint === 'readyz' ? this.#names : this.#names.filter((name) => name !== 'shutdown');
  }

  /** Runs all checks of an endpoint but the excluded ones. */
  async report(endpoint: HealthEndpoint, excluded: ReadonlySet<string>, verbose: boolean): Promise<HealthReport> {
    const names = this.checkNames(endpoint);
    const results = await this.#run(
      endpoint,
      names.filter((name) => !excluded.has(name)),
    );
    const healthy = [...results.values()].every((result) => result === '');
    if (healthy && !verbose) return { healthy, text: 'ok' };
    const lines = names.map((name) => {
      if (excluded.has(name)) return `[+]${name} excluded: ok`;
      return results.get(name) === '' ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
    });
    for (const name of excluded)
      if (!names.includes(name)) lines.push(`warn: some health checks cannot be excluded: no matches for "${name}"`);
    return { healthy, text: `${lines.join('\n')}\n${healthy ? 'healthz check passed' : `${endpoint} check failed`}\n` };
  }

  /** Runs one check; undefined when there is none of that name. */
  async single(endpoint: HealthEndpoint, name: string): Promise<HealthReport | undefined> {
    if (!this.checkNames(endpoint).includes(name)) return undefined;
    const result = (await this.#run(endpoint, [name])).get(name) ?? '';
    return { healthy: result === '', text: result === '' ? 'ok' : `internal server error: ${name} failed` };
  }

  async #run(endpoint: HealthEndpoint, names: readonly string[]): Promise<Map<string, CheckResult>> {
    const hub = once(() => this.#hub());
    const hooks = once(() => this.#hooks());
    const forgiving = endpoint !== 'readyz' && this.#parts.uptimeMs() < this.#parts.livezGracePeriodMs;
    const results = await Promise.all(
      names.map(async (name): Promise<readonly [string, CheckResult]> => {
        if (name === 'store') return [name, await this.#store()];
        if (name.startsWith(KEY_SERVICE_PREFIX)) return [name, await this.#keyService(name)];
        if (name === 'shutdown') return [name, this.#parts.isDraining() ? 'the server is shutting down' : ''];
        if (!this.#hubHooks.has(name) && !name.startsWith(HOOK_PREFIX)) return [name, ''];
        if (forgiving) return [name, ''];
        return [name, this.#hubHooks.has(name) ? await hub() : hookResult(await hooks(), name)];
      }),
    );
    return new Map(results);
  }

  async #store(): Promise<CheckResult> {
    try {
      const { healthy, reason } = await this.#parts.store.ask(
        { type: 'health' },
        { deadlineMs: this.#parts.checkTimeoutMs },
      );
      return healthy ? '' : reason;
    } catch (error) {
      return isOrchError(error) ? `the store did not answer: ${error.code}` : String(error);
    }
  }

  async #keyService(name: string): Promise<CheckResult> {
    const number = Number(name.slice(KEY_SERVICE_PREFIX.length));
    try {
      const { problem } = await this.#parts.store.ask(
        { type: 'keyServiceHealth', number },
        { deadlineMs: this.#parts.checkTimeoutMs },
      );
      return problem;
    } catch (error) {
      return isOrchError(error) ? `the store did not answer: ${error.code}` : String(error);
    }
  }

  async #hub(): Promise<CheckResult> {
    try {
      const { ready } = await this.#parts.hub.ask({ type: 'status' }, { deadlineMs: this.#parts.checkTimeoutMs });
      return ready ? '' : 'the store has not been read';
    } catch (error) {
      return isOrchError(error) ? `the hub did not answer: ${error.code}` : String(error);
    }
  }

  async #hooks(): Promise<readonly HookState[]> {
    try {
      const { hooks } = await this.#parts.controllers.ask(
        { type: 'hooks' },
        { deadlineMs: this.#parts.checkTimeoutMs },
      );
      return hooks;
    } catch {
      return [];
    }
  }
}

function hookResult(hooks: readonly HookState[], name: string): CheckResult {
  const hook = hooks.find((state) => state.name === name);
  if (hook === undefined) return 'the controllers did not report it';
  return hook.done ? '' : hook.failure || 'not done yet';
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
