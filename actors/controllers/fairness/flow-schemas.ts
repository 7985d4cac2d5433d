// Keeps the Dangling condition of every flow schema in step with whether its priority level is there, and tells the ingresses
// what API priority and fairness goes by, whenever that has changed.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asNumber, asText, partAt, partsAt, textAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import type { FlowObjects } from '../../ingress/protocol.ts';
import type { FirstObjects } from '../../store/protocol.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import { apiServerIdentity } from '../identities.ts';

const FIELD_MANAGER = 'api-priority-and-fairness-config-consumer-v1';
const DANGLING = 'Dangling';

interface Followed {
  readonly revision: number;
  /** Without what changes nothing for requests. */
  readonly object: JsonObject;
  readonly generation: number;
  readonly status: JsonObject;
}

/** Keys are names of flow schemas. */
export class FlowSchemas implements Controller {
  readonly name = 'flow-schemas';
  readonly identity;
  readonly wants: readonly string[];
  readonly goesBy: FirstObjects;
  readonly keysInFlightMax = 5;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #group: string;
  readonly #schemaKey: string;
  readonly #publish: () => void;
  readonly #schemas = new Map<string, Followed>();
  readonly #levels = new Map<string, Followed>();
  #isWhole = false;

  /** `publish`: what `objects` says has changed. */
  constructor(clock: Clock, due: Due, dialect: Dialect, publish: () => void) {
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#group = dialect.spell('flowcontrol.apiserver.@group');
    this.#schemaKey = `${this.#group}/flowschemas`;
    this.wants = [this.#schemaKey, `${this.#group}/prioritylevelconfigurations`];
    this.goesBy = { types: this.wants };
    this.#publish = publish;
  }

  /** What requests are to be judged by; undefined while not all is known. */
  get objects(): FlowObjects | undefined {
    if (!this.#isWhole) return undefined;
    const of = (followed: ReadonlyMap<string, Followed>) => [...followed.values()].map(({ object }) => object);
    return { schemas: of(this.#schemas), levels: of(this.#levels) };
  }

  reset(): void {
    this.#isWhole = false;
    this.#schemas.clear();
    this.#levels.clear();
  }

  onSynced(): void {
    this.#isWhole = true;
    for (const name of this.#schemas.keys()) this.#due.add(name);
    this.#publish();
  }

  onEvent(event: FeedEvent): void {
    const { name, storageKey, type } = event;
    const isSchema = storageKey === this.#schemaKey;
    const all = isSchema ? this.#schemas : this.#levels;
    const before = all.get(name);
    const after = type === 'delete' ? undefined : followed(event);
    if (after === undefined) all.delete(name);
    else all.set(name, after);
    if (!this.#isWhole) return;
    if (isSchema) this.#due.add(name);
    else if (before === undefined || after === undefined) this.#dueFor(name);
    if (before?.generation !== after?.generation || uidOf(before) !== uidOf(after)) this.#publish();
  }

  plan(name: string): Plan {
    const schema = this.#schemas.get(name);
    if (schema === undefined) return NOTHING;
    const conditions = partsAt(schema.status, 'conditions');
    const wanted = this.#condition(schema, conditions);
    if (wanted === undefined) return NOTHING;
    const others = conditions.filter(({ type }) => type !== DANGLING);
    const body = {
      metadata: { resourceVersion: String(schema.revision) },
      status: { conditions: [...others, wanted] },
    };
    const target = {
      ...{ group: this.#group, version: 'v1beta1', resource: 'flowschemas', subresource: 'status' },
      ...{ namespace: '', name },
    };
    return { writes: [{ verb: 'patch', target, parameters: { fieldManager: FIELD_MANAGER }, body }] };
  }

  #dueFor(level: string): void {
    for (const [name, { object }] of this.#schemas) if (levelOf(object) === level) this.#due.add(name);
  }

  /** The condition that the schema should have; undefined where it has it. */
  #condition({ object }: Followed, conditions: readonly JsonObject[]): ApiObject | undefined {
    const level = levelOf(object);
    const isThere = this.#levels.has(level);
    const status = isThere ? 'False' : 'True';
    const reason = isThere ? 'Found' : 'NotFound';
    const what = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
    const message = `${what} ${isThere ? 'and it exists' : 'but there is no such object'}`;
    const present = conditions.find(({ type }) => type === DANGLING);
    if (present?.status === status && present.reason === reason && present.message === message) return undefined;
    const since = present?.status === status ? asText(present.lastTransitionTime) : '';
    const lastTransitionTime = since || timestampOf(this.#clock.nowMs());
    return { type: DANGLING, status, lastTransitionTime, reason, message };
  }
}

function followed(event: FeedEvent): Followed {
  const object = event.object();
  const metadata = partAt(object, 'metadata');
  const { name, uid } = metadata;
  return {
    revision: event.revision,
    object: { metadata: { name, uid }, spec: object.spec },
    generation: asNumber(metadata.generation),
    status: partAt(object, 'status'),
  };
}

function uidOf(one: Followed | undefined): string {
  return one === undefined ? '' : textAt(partAt(one.object, 'metadata'), 'uid');
}

function levelOf(object: JsonObject): string {
  return textAt(partAt(partAt(object, 'spec'), 'priorityLevelConfiguration'), 'name');
}
