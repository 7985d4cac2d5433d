// The custom types that come and go in a run. Each write of a definition makes an edition of its schema: a member of `spec` that
// has a default and is called after the write's tag, so that every object that is shown tells by which edition. Plain data.
import type { Collection } from './client.ts';
import { DEFINED_GROUP } from './history.ts';

const DEFINITIONS_GROUP = 'apiextensions.orch.io';

/** A type that a definition makes, and its definition. */
export interface DefinedType extends Collection {
  readonly kind: string;
  /** `<plural>.<group>`. */
  readonly definition: string;
}

export const DEFINITION_OBJECTS: Collection = {
  storageKey: `${DEFINITIONS_GROUP}/customresourcedefinitions`,
  path: () => `/apis/${DEFINITIONS_GROUP}/v1/customresourcedefinitions`,
};

function definedType(plural: string, kind: string): DefinedType {
  const root = `/apis/${DEFINED_GROUP}/v1`;
  return {
    kind,
    definition: `${plural}.${DEFINED_GROUP}`,
    storageKey: `${DEFINED_GROUP}/${plural}`,
    path: (namespace) => (namespace === '' ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`),
  };
}

export const DEFINED_TYPES: readonly DefinedType[] = [
  definedType('gadgets', 'Gadget'),
  definedType('widgets', 'Widget'),
];

/** What a definition says of its one version in the edition of a tag. */
export function versionsOf(edition: string): readonly object[] {
  const spec = { type: 'object', default: {}, properties: { [edition]: { type: 'string', default: 'yes' } } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return [{ name: 'v1', served: true, storage: true, schema }];
}

/** A definition in the edition of a tag. */
export function definitionOf({ kind, definition }: DefinedType, tag: string): object {
  const plural = definition.slice(0, definition.indexOf('.'));
  return {
    metadata: { name: definition, annotations: { tag } },
    spec: { group: DEFINED_GROUP, scope: 'Namespaced', names: { plural, kind }, versions: versionsOf(tag) },
  };
}
