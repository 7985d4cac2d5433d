// Keeps the rules of aggregated cluster roles: those of all roles that their selectors match, each rule once, in the order
// of the roles' names. Sums that sum each other up in a circle may never come to rest: they are written less and less often.
import { deepEqual } from '../../api/json/deep-equal.ts';
import { asList, asObject } from '../../api/json/object-fields.ts';
import { metadataOf } from '../../api/metadata/object-meta.ts';
import { type LabelSelector, labelSelectorFromObject } from '../../api/selectors/label-selector.ts';
import { isStatusError } from '../../api/status/status.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { FeedEvent } from '../../storage/following/store-feed.ts';
import { Contested } from './contested.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from './controller.ts';
import { controllerIdentity } from './identities.ts';

interface KnownRole {
  readonly object: ApiObject;
  readonly labels: Readonly<Record<string, string>>;
  /** Empty for a role that aggregates nothing. */
  readonly selectors: readonly LabelSelector[];
}

/** The cluster role aggregation controller. Keys are names of aggregated roles. */
export class RoleAggregation implements Controller {
  readonly name = 'clusterrole-aggregation';
  readonly identity;
  readonly wants: readonly string[];
  readonly countsAbsence = true;
  readonly keysInFlightMax = 5;
  readonly #due: Due;
  readonly #group: string;
  readonly #roles = new Map<string, KnownRole>();
  readonly #aggregated = new Set<string>();
  readonly #contested: Contested;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.#contested = new Contested(clock);
    this.identity = controllerIdentity(dialect, 'clusterrole-aggregation-controller');
    this.#due = due;
    this.#group = dialect.spell('rbac.authorization.@group');
    this.wants = [`${this.#group}/clusterroles`];
  }

  reset(): void {
    this.#roles.clear();
    this.#aggregated.clear();
    this.#contested.clear();
  }

  onEvent(event: FeedEvent): void {
    const { name } = event;
    if (event.type === 'delete') {
      this.#roles.delete(name);
      this.#aggregated.delete(name);
      this.#contested.forget(name);
    } else {
      const object = event.object();
      const selectors = selectorsOf(object);
      const labels = asObject(metadataOf(object).labels) as Readonly<Record<string, string>>;
      this.#roles.set(name, { object, labels, selectors });
      if (selectors.length > 0) this.#aggregated.add(name);
      else this.#aggregated.delete(name);
    }
    // Any role may have been part of any sum, or become so: there are few sums.
    for (const sum of this.#aggregated) this.#due.add(sum);
  }

  onSynced(): void {
    for (const sum of this.#aggregated) this.#due.add(sum);
  }

  plan(key: string): Plan {
    const sum = this.#roles.get(key);
    if (sum === undefined || sum.selectors.length === 0) return NOTHING;
    const rules = this.#rulesOf(key, sum.selectors);
    if (deepEqual(rules, asList(sum.object.rules))) return NOTHING;
    const leftMs = this.#isInCircle(key) ? this.#contested.leftMs(key) : 0;
    if (leftMs > 0) return { writes: [], againAfterMs: leftMs };
    const target = {
      group: this.#group,
      version: 'v1',
      resource: 'clusterroles',
      subresource: '',
      namespace: '',
      name: key,
    };
    return { writes: [{ verb: 'update', target, body: { ...sum.object, rules } }] };
  }

  onOutcome(key: string, _write: Write, { ok }: WriteOutcome): void {
    if (ok) this.#contested.onSetRight(key);
  }

  /** Whether what the sum becomes changes, through other sums, what it is to be. */
  #isInCircle(sum: string): boolean {
    const seen = new Set<string>([sum]);
    // A set goes on with what is added to it meanwhile.
    for (const name of seen) {
      const { selectors } = this.#roles.get(name)!;
      for (const other of this.#aggregated) {
        if (other === name || !selectors.some((selector) => selector.matches(this.#roles.get(other)!.labels))) continue;
        if (other === sum) return true;
        seen.add(other);
      }
    }
    return false;
  }

  /** Selector by selector, each role by name: the order shows. */
  #rulesOf(sum: string, selectors: readonly LabelSelector[]): readonly unknown[] {
    const rules = new Map<string, unknown>();
    const names = [...this.#roles.keys()].filter((name) => name !== sum).sort();
    for (const selector of selectors) {
      for (const name of names) {
        const { labels, object } = this.#roles.get(name)!;
        if (!selector.matches(labels)) continue;
        for (const rule of asList(object.rules)) {
          const text = JSON.stringify(rule);
          if (!rules.has(text)) rules.set(text, rule);
        }
      }
    }
    return [...rules.values()];
  }
}

/** What cannot be read selects nothing: validation lets no such selector in. */
function selectorsOf(role: ApiObject): readonly LabelSelector[] {
  return asList(asObject(role.aggregationRule).clusterRoleSelectors).flatMap((selector) => {
    try {
      return [labelSelectorFromObject(selector)];
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return [];
    }
  });
}
