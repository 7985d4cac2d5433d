// Definitions of custom types, each made again by the run's seed and its number alone: versions with schemas of their own, subresources,
// columns and names of all kinds. Those of even numbers have no alternatives in their schemas: where there are any, 1.20
// owns fields without the schema.
import { isJsonObject, type JsonObject } from '../../api/json/json-value.ts';
import { type Dice, diceOf } from '../fuzz/generate/dice.ts';
import { type Dict, schemaOf } from './custom-schemas.ts';

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CUSTOM_GROUP = 'custom.example.com';
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1', 'v2', 'v10', 'foo1'];
const PATHS = [
  ...[
    '.spec.a',
    '.spec.replicas',
    '.metadata.creationTimestamp',
    '.metadata.labels.x',
    '.spec.c[0]',
    '.spec.c[*].name',
  ],
  ...['.spec.*', '..a', '.status.conditions[?(@.type=="Ready")].status', '.spec["a"]', ".spec['a']", '.spec.x\\.y'],
  ...['.spec.c[-1]', '.spec.c[0:2]', '.spec.nope', '.metadata.name', '.kind', '.spec', '.spec.a.b.c', '.spec.c[0,1]'],
];
const TYPES = ['string', 'integer', 'number', 'boolean', 'date'];

/** Of a version that is served. */
export interface CustomVersion {
  readonly name: string;
  readonly schema: Dict;
}

export interface CustomDefinition {
  readonly body: JsonObject;
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly versions: readonly CustomVersion[];
}

/** The definition of a number. */
export function definitionOf(seed: number, index: number): CustomDefinition {
  const dice = diceOf(seed, 'definition', index);
  const [plural, kind] = [`things${index}`, `Thing${index}`];
  const names = { plural, kind, ...(dice.oneIn(2) ? { singular: `single${index}`, shortNames: [`th${index}`] } : {}) };
  const first = dice.below(VERSIONS.length);
  const count = dice.pick([1, 1, 2, 3]);
  const versions = Array.from({ length: count }, (_, at) => {
    const name = VERSIONS[(first + at) % VERSIONS.length]!;
    const version = versionOf(dice, name, at === 0);
    return index % 2 === 0 ? (withoutAlternatives(version) as typeof version) : version;
  });
  const namespaced = dice.oneIn(2);
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  const group = `g${seed}.${CUSTOM_GROUP}`;
  const body = { metadata: { name: `${plural}.${group}` }, spec: { group, scope, names, versions } };
  const served = versions.map(({ name, schema }) => ({ name, schema: schema.openAPIV3Schema }));
  return { body, group, plural, kind, namespaced, versions: served };
}

const ALTERNATIVES: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not']);
const EITHER = 'x-kubernetes-int-or-string';

function withoutAlternatives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAlternatives);
  if (!isJsonObject(value)) return value;
  if (value[EITHER] === true) return { type: 'string' };
  const kept = Object.entries(value).filter(([name]) => !ALTERNATIVES.has(name));
  return Object.fromEntries(kept.map(([name, below]) => [name, withoutAlternatives(below)]));
}

function versionOf(dice: Dice, name: string, storage: boolean) {
  const properties: Dict = { spec: schemaOf(dice, 3, 'object') };
  if (dice.oneIn(2)) properties.status = schemaOf(dice, 2, 'object');
  if (dice.oneIn(2)) properties.other = schemaOf(dice, 1);
  if (dice.oneIn(8)) properties.metadata = { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } };
  const subresources: Dict = dice.oneIn(2) ? { status: {} } : {};
  if (dice.oneIn(2)) Object.assign(subresources, withScale(properties));
  const schema: Dict = { type: 'object', properties };
  if (dice.oneIn(8)) schema['x-kubernetes-preserve-unknown-fields'] = true;
  if (dice.oneIn(5)) schema.required = ['spec'];
  return {
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: schema },
    subresources,
    ...(dice.oneIn(2) ? { additionalPrinterColumns: [columnOf(dice), columnOf(dice)] } : {}),
    ...(dice.oneIn(8) ? { deprecated: true } : {}),
  };
}

/** A scale, and what of the properties it is made of. */
function withScale(properties: Dict): Dict {
  const spec = properties.spec as Dict;
  spec.properties = { ...(spec.properties as Dict | undefined), replicas: { type: 'integer' } };
  properties.status ??= { type: 'object' };
  const status = properties.status as Dict;
  const members = { replicas: { type: 'integer' }, selector: { type: 'string' } };
  status.properties = { ...(status.properties as Dict | undefined), ...members };
  const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  return { scale: { ...paths, labelSelectorPath: '.status.selector' } };
}

function columnOf(dice: Dice): Dict {
  const column: Dict = {
    name: dice.pick(['A', 'B', 'Age', 'x y']),
    type: dice.pick(TYPES),
    jsonPath: dice.pick(PATHS),
  };
  if (dice.oneIn(4)) column.format = dice.pick(['int32', 'float', 'date', 'date-time', 'password']);
  if (dice.oneIn(3)) column.priority = dice.pick([0, 1, -1]);
  return column;
}

/** Where the objects of a version are. */
export function objectsOf(
  { group, plural, namespaced }: Pick<CustomDefinition, 'group' | 'plural' | 'namespaced'>,
  version: string,
  namespace: string,
): string {
  return `/apis/${group}/${version}/${namespaced ? `namespaces/${namespace}/` : ''}${plural}`;
}

/** Whether a definition says that its type is served. */
export function isEstablished(definition: unknown): boolean {
  const { status } = isJsonObject(definition) ? definition : {};
  const { conditions } = isJsonObject(status) ? status : {};
  return (
    Array.isArray(conditions) && conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')
  );
}
