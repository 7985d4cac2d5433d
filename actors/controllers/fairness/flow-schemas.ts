// Keeps the Dangling condition of every flow schema in step with whether its priority level is there. What requests are judged by
// each ingress follows itself (actors/ingress/fairness/followed-flows.ts).
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asText, partAt, partsAt, textAt } from '../../../api/json/object-fields.ts';
import { timestampOf } from '../../../api/metadata/object-meta.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { type ApiObject, type Controller, type Due, NOTHING, type Plan } from '../controller.ts';
import { apiServerIdentity } from '../identities.ts';

const FIELD_MANAGER = 'api-priority-and-fairness-config-consumer-v1';
const DANGLING = 'Dangling';

interface Followed {
  readonly revision: number;
  /** The name of its priority level. */
  readonly level: string;
  readonly status: JsonObject;
}

/** Keys are names of flow schemas. */
export class FlowSchemas implements Controller {
  readonly name = 'flow-schemas';
  readonly identity;
  readonly wants: readonly string[];
  readonly keysInFlightMax = 5;
  readonly #clock: Clock;
  readonly #due: Due;
  readonly #group: string;
  readonly #schemaKey: string;
  readonly #schemas = new Map<string, Followed>();
  readonly #levels = new Set<string>();
  #isWhole = false;

  constructor(clock: Clock, due: Due, dialect: Dialect) {
    this.identity = apiServerIdentity(dialect);
    this.#clock = clock;
    this.#due = due;
    this.#group = dialect.spell('flowcontrol.apiserver.@group');
    this.#schemaKey = `${this.#group}/flowschemas`;
    this.wants = [this.#schemaKey, `${this.#group}/prioritylevelconfigurations`];
  }

  reset(): void {
    this.#isWhole = false;
    this.#schemas.clear();
    this.#levels.clear();
  }

  onSynced(): void {
    this.#isWhole = true;
    for (const name of this.#schemas.keys()) this.#due.add(name);
  }

  onEvent(event: FeedEvent): void {
    if (event.storageKey === this.#schemaKey) this.#onSchema(event);
    else this.#onLevel(event);
  }

  #onSchema(event: FeedEvent): void {
    const { name, type } = event;
    if (type === 'delete') this.#schemas.delete(name);
    else this.#schemas.set(name, followed(event));
    if (this.#isWhole) this.#due.add(name);
  }

  #onLevel({ name, type }: FeedEvent): void {
    const wasThere = this.#levels.has(name);
    const isThere = type !== 'delete';
    if (isThere) this.#levels.add(name);
    else this.#levels.delete(name);
    if (this.#isWhole && isThere !== wasThere) this.#dueFor(name);
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
    for (const [name, schema] of this.#schemas) if (schema.level === level) this.#due.add(name);
  }

  /** The condition that the schema should have; undefined where it has it. */
  #condition({ level }: Followed, conditions: readonly JsonObject[]): ApiObject | undefined {
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
  const level = partAt(partAt(object, 'spec'), 'priorityLevelConfiguration');
  return { revision: event.revision, level: textAt(level, 'name'), status: partAt(object, 'status') };
}
