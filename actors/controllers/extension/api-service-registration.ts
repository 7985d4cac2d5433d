// Makes an APIService for every group and version that this server answers for, so that whoever reads those finds all there are:
// for the built-in ones once a start, for those of definitions as long as a version of one is served.
import { localPriorities } from '../../../api/aggregation/priorities.ts';
import type { Definition } from '../../../api/custom/definitions/definition.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import { partAt, textAt } from '../../../api/json/object-fields.ts';
import type { ServedGroup } from '../../../api/resources/registry.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { WriteTarget } from '../../admission/protocol.ts';
import type { FirstObjects } from '../../store/protocol.ts';
import {
  type ApiObject,
  type Controller,
  type Due,
  NOTHING,
  type Plan,
  type Write,
  type WriteOutcome,
} from '../controller.ts';
import type { CustomTypes } from '../custom-types.ts';
import { apiServerIdentity } from '../identities.ts';

/** Who keeps an APIService: the label's value. Any other means that somebody else does. */
const ON_START = 'onstart';
const ALWAYS = 'true';

interface Wanted {
  readonly kept: typeof ON_START | typeof ALWAYS;
  readonly spec: ApiObject;
}

export interface RegistrationParts {
  readonly dialect: Dialect;
  /** The built-in groups that are served. */
  readonly groups: readonly ServedGroup[];
  readonly customTypes: CustomTypes;
  /** Of the group apiregistration, to write in. */
  readonly version: string;
}

/** The controller of the registration of this server's groups. Keys are names of APIServices. */
export class ApiServiceRegistration implements Controller {
  readonly name = 'apiservice-registration';
  readonly identity;
  readonly wants: readonly string[];
  readonly goesBy: FirstObjects;
  readonly countsAbsence = true;
  readonly keysInFlightMax = 128;
  readonly #due: Due;
  readonly #types: CustomTypes;
  readonly #dialect: Dialect;
  readonly #group: string;
  readonly #version: string;
  readonly #label: string;
  readonly #builtIn: ReadonlyMap<string, Wanted>;
  readonly #definitions = new Map<string, Definition>();
  readonly #stored = new Map<string, ApiObject>();
  /** Those that were right once since the start. */
  readonly #settled = new Set<string>();
  /** Those that were there at the start; undefined before. */
  #atStart: ReadonlySet<string> | undefined;

  constructor(due: Due, { dialect, groups, customTypes, version }: RegistrationParts) {
    this.identity = apiServerIdentity(dialect);
    this.#due = due;
    this.#types = customTypes;
    this.#dialect = dialect;
    this.#group = dialect.spell('apiregistration.@group');
    this.#version = version;
    this.#label = dialect.spell('@short-aggregator.@label/automanaged');
    const builtIn = groups.flatMap(({ name, versions }) => versions.map((one) => this.#wanted(name, one, ON_START)));
    this.#builtIn = new Map(builtIn.flat());
    this.wants = [`${this.#group}/apiservices`, customTypes.storageKey];
    this.goesBy = { types: this.wants };
  }

  reset(): void {
    this.#stored.clear();
    this.#definitions.clear();
  }

  onEvent(event: FeedEvent): void {
    const { name, type } = event;
    if (event.storageKey === this.#types.storageKey) {
      this.#onDefinition(name);
      return;
    }
    if (type === 'delete') this.#stored.delete(name);
    else this.#stored.set(name, event.object());
    this.#due.add(name);
  }

  onSynced(): void {
    this.#atStart ??= new Set(this.#stored.keys());
    for (const name of [...this.#builtIn.keys(), ...this.#stored.keys()]) this.#due.add(name);
    for (const definition of this.#definitions.values()) this.#review(definition);
  }

  plan(key: string): Plan {
    const wanted = this.#builtIn.get(key) ?? this.#ofDefinitions(key);
    const stored = this.#stored.get(key);
    const isSettled = this.#settled.has(key);
    if (wanted?.kept === ON_START && isSettled) return NOTHING;
    if (stored === undefined) return wanted === undefined ? NOTHING : { writes: [this.#creation(key, wanted)] };
    const kept = textAt(partAt(partAt(stored, 'metadata'), 'labels'), this.#label);
    const isOurs = kept === ALWAYS || (kept === ON_START && this.#atStart?.has(key) === true && !isSettled);
    if (!isOurs || deepEqual(stored.spec, wanted?.spec)) {
      this.#settled.add(key);
      return NOTHING;
    }
    if (wanted === undefined) return { writes: [{ verb: 'delete', target: this.#target(key) }] };
    const apiVersion = `${this.#group}/${this.#version}`;
    return {
      writes: [{ verb: 'update', target: this.#target(key), body: { ...stored, apiVersion, spec: wanted.spec } }],
    };
  }

  onOutcome(key: string, write: Write, { ok }: WriteOutcome): void {
    if (ok && write.verb !== 'delete') this.#settled.add(key);
  }

  /** A group and version of this server that is not registered yet; undefined when all are. */
  get missing(): string | undefined {
    return [...this.#builtIn.keys()].find((name) => !this.#settled.has(name));
  }

  #onDefinition(name: string): void {
    const before = this.#definitions.get(name);
    const now = this.#types.definition(name);
    if (now === undefined) this.#definitions.delete(name);
    else this.#definitions.set(name, now);
    if (before !== undefined) this.#review(before);
    if (now !== undefined) this.#review(now);
  }

  #review({ group, versions }: Definition): void {
    for (const { name } of versions) this.#due.add(`${name}.${group}`);
  }

  #ofDefinitions(key: string): Wanted | undefined {
    for (const { group, versions } of this.#definitions.values()) {
      if (!key.endsWith(group)) continue;
      const found = versions.find(({ name, served }) => served && `${name}.${group}` === key);
      if (found !== undefined) return this.#wanted(group, found.name, ALWAYS)[0]?.[1];
    }
    return undefined;
  }

  /** With its name; none for the group that needs none. */
  #wanted(group: string, version: string, kept: Wanted['kept']): (readonly [string, Wanted])[] {
    const priorities = localPriorities(this.#dialect, group, version);
    if (priorities === undefined) return [];
    const spec = {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: priorities.group,
      versionPriority: priorities.version,
    };
    return [[`${version}.${group}`, { kept, spec }]];
  }

  #creation(name: string, { kept, spec }: Wanted): Write {
    const body = {
      apiVersion: `${this.#group}/${this.#version}`,
      kind: 'APIService',
      metadata: { name, labels: { [this.#label]: kept } },
      spec,
    };
    return { verb: 'create', target: this.#target(''), body };
  }

  #target(name: string): WriteTarget {
    return {
      group: this.#group,
      version: this.#version,
      resource: 'apiservices',
      subresource: '',
      namespace: '',
      name,
    };
  }
}
