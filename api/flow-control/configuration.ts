// Flow schemas and priority levels as requests are judged by them (SPEC.md "Limits"; Kubernetes 1.21's API priority and
// fairness): read out of the objects, put into order, and turned into concurrency limits. Pure.
import type { Dialect } from '../../config/dialect.ts';
import { flowControlObjects } from '../bootstrap/flow-control.ts';
import type { JsonObject } from '../json/json-value.ts';
import { asText, asTexts, booleanAt, numberAt, partAt, partsAt, textAt } from '../json/object-fields.ts';
import { metadataOf } from '../metadata/object-meta.ts';

/** What tells the flows of a schema apart. */
export type Distinguisher = 'ByUser' | 'ByNamespace' | 'none';

export interface FlowSubject {
  readonly kind: string;
  /** Empty where the subject is no service account. */
  readonly namespace: string;
  readonly name: string;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly clusterScope: boolean;
  readonly namespaces: readonly string[];
}

export interface PathRule {
  readonly verbs: readonly string[];
  readonly paths: readonly string[];
}

export interface FlowRule {
  readonly subjects: readonly FlowSubject[];
  readonly resources: readonly ResourceRule[];
  readonly paths: readonly PathRule[];
}

export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  /** Lower ones are asked first. */
  readonly precedence: number;
  readonly level: string;
  readonly flowsBy: Distinguisher;
  readonly rules: readonly FlowRule[];
}

export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

export interface LevelSpec {
  readonly name: string;
  readonly uid: string;
  /** Undefined: exempt from limits. */
  readonly shares: number | undefined;
  /** Undefined: what finds no seat is refused at once. */
  readonly queuing: Queuing | undefined;
}

export interface FlowConfiguration {
  /** In the order in which they are asked. */
  readonly schemas: readonly FlowSchema[];
  readonly levels: readonly LevelSpec[];
}

/** What defaulting writes into objects. */
const DEFAULT_PRECEDENCE = 1000;
const DEFAULT_SHARES = 30;

/**
 * The configuration that objects make: schemas by precedence, then by name. The mandatory objects hold even while they are not
 * there. A schema whose level is missing is left out.
 */
export function flowConfiguration(
  dialect: Dialect,
  schemaObjects: readonly JsonObject[],
  levelObjects: readonly JsonObject[],
): FlowConfiguration {
  const mandatory = flowControlObjects(dialect, 'mandatory');
  const missing = <T extends { readonly name: string }>(kind: string, read: (object: JsonObject) => T, there: T[]) => {
    const names = new Set(there.map(({ name }) => name));
    const made = mandatory.filter((object) => object.kind === kind).map(read);
    return [...there, ...made.filter(({ name }) => !names.has(name))];
  };
  const levels = missing('PriorityLevelConfiguration', levelSpecOf, levelObjects.map(levelSpecOf));
  const known = new Set(levels.map(({ name }) => name));
  const schemas = missing('FlowSchema', flowSchemaOf, schemaObjects.map(flowSchemaOf))
    .filter(({ level }) => known.has(level))
    .sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1));
  return { schemas, levels };
}

/** Requests of each level at a time: its part of all, by shares; at least one. */
export function concurrencyLimit(total: number, shares: number, allShares: number): number {
  return Math.ceil((total * shares) / allShares);
}

function flowSchemaOf(object: JsonObject): FlowSchema {
  const { name = '', uid = '' } = metadataOf(object);
  const spec = partAt(object, 'spec');
  const by = asText(partAt(spec, 'distinguisherMethod').type);
  return {
    name,
    uid,
    precedence: numberAt(spec, 'matchingPrecedence') || DEFAULT_PRECEDENCE,
    level: textAt(partAt(spec, 'priorityLevelConfiguration'), 'name'),
    flowsBy: by === 'ByUser' || by === 'ByNamespace' ? by : 'none',
    rules: partsAt(spec, 'rules').map(flowRuleOf),
  };
}

function flowRuleOf(rule: JsonObject): FlowRule {
  return {
    subjects: partsAt(rule, 'subjects').map(subjectOf),
    resources: partsAt(rule, 'resourceRules').map((part) => ({
      verbs: asTexts(part.verbs),
      groups: asTexts(part.apiGroups),
      resources: asTexts(part.resources),
      clusterScope: booleanAt(part, 'clusterScope'),
      namespaces: asTexts(part.namespaces),
    })),
    paths: partsAt(rule, 'nonResourceRules').map((part) => ({
      verbs: asTexts(part.verbs),
      paths: asTexts(part.nonResourceURLs),
    })),
  };
}

const SUBJECT_PARTS: Readonly<Record<string, string>> = {
  User: 'user',
  Group: 'group',
  ServiceAccount: 'serviceAccount',
};

function subjectOf(subject: JsonObject): FlowSubject {
  const kind = asText(subject.kind);
  const part = partAt(subject, Object.hasOwn(SUBJECT_PARTS, kind) ? SUBJECT_PARTS[kind]! : kind);
  return { kind, namespace: textAt(part, 'namespace'), name: textAt(part, 'name') };
}

function levelSpecOf(object: JsonObject): LevelSpec {
  const { name = '', uid = '' } = metadataOf(object);
  const spec = partAt(object, 'spec');
  if (asText(spec.type) === 'Exempt') return { name, uid, shares: undefined, queuing: undefined };
  const limited = partAt(spec, 'limited');
  const response = partAt(limited, 'limitResponse');
  const shares = numberAt(limited, 'assuredConcurrencyShares') || DEFAULT_SHARES;
  if (asText(response.type) !== 'Queue') return { name, uid, shares, queuing: undefined };
  const queuing = partAt(response, 'queuing');
  return {
    name,
    uid,
    shares,
    queuing: {
      queues: Math.max(1, numberAt(queuing, 'queues')),
      handSize: Math.max(1, numberAt(queuing, 'handSize')),
      queueLengthLimit: Math.max(1, numberAt(queuing, 'queueLengthLimit')),
    },
  };
}
