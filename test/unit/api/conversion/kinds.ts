// Every kind that is known in more than one version, as the conversion tests go through them, and objects of them as a
// server would have them: canonical and with their defaults.
import { decode } from '../../../../api/codec/decode.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import { jsonCopy } from '../../../../api/json/json-copy.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { schemaOf, type TypeSchema } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

export const DIALECT = DIALECTS.kubernetes;
export const SCHEMA = schemaOf(DIALECT);
export const REGISTRY = createRegistry(DIALECT);

export const schemaOfType = ({ group, version, kind }: KnownType): TypeSchema => SCHEMA.kind(group, version, kind)!;

/** A type in a version that is not the one its objects are kept in, and that one. */
export interface VersionPair {
  readonly older: KnownType;
  readonly stored: KnownType;
}

/** All pairs of a version and the one that is stored (or preferred, for reviews). */
export const PAIRS: readonly VersionPair[] = REGISTRY.known().flatMap((older) => {
  const stored = older.persisted
    ? REGISTRY.storageType(older.storageKey)!
    : REGISTRY.known().find(
        ({ group, kind, version }) =>
          group === older.group && kind === older.kind && version === older.preferredVersion,
      )!;
  return stored === older ? [] : [{ older, stored }];
});

/** What a server makes of an object that a client sends. The object given is consumed. */
export function asServed(object: unknown, type: KnownType): JsonObject {
  const schema = schemaOfType(type);
  const { object: canonical } = decode(object, schema);
  applyDefaults(canonical, schema);
  const named = { ...canonical, kind: type.kind, apiVersion: type.apiVersion };
  return decode(jsonCopy(tidied(named, schema.name)), schema).object;
}

/** Objects that no client could store say some things twice or in words that no version has; they are left out. */
function tidied(object: JsonObject, typeName: string): JsonObject {
  return TIDIED[typeName]?.(object) ?? object;
}

type Tidy = (object: JsonObject) => JsonObject;
type List = readonly JsonObject[];

const list = (value: unknown): List => (Array.isArray(value) ? (value as List) : []);
const part = (value: unknown): JsonObject => (value ?? {}) as JsonObject;
const SUBJECT_KINDS = ['User', 'Group', 'ServiceAccount'];

/** The apiVersion of a subject goes with its kind. */
const olderSubjects: Tidy = (binding) => ({
  ...binding,
  subjects: list(binding.subjects).map((subject, index) => {
    const kind = SUBJECT_KINDS[index % SUBJECT_KINDS.length]!;
    const apiVersion = kind === 'ServiceAccount' ? 'v1' : DIALECT.spell('rbac.authorization.@group/v1alpha1');
    return { ...subject, kind, apiVersion, name: `n${index}` };
  }),
});

/** v1beta1 says at the top what versions have in common, and names the first of them. */
const olderDefinition: Tidy = (definition) => {
  const spec = part(definition.spec);
  const given = list(spec.versions);
  const versions = (given.length === 0 ? [{ name: 'v1', served: true, storage: true }] : given).map(
    ({ schema: _schema, subresources: _subresources, additionalPrinterColumns: _columns, ...version }) => version,
  );
  return { ...definition, spec: { ...spec, versions, version: versions[0]!.name } };
};

/** A webhook says for which reviews it is, and clients give it none without. */
const definition: Tidy = (object) => {
  const { conversion, ...spec } = part(object.spec);
  const { webhook, ...others } = part(conversion);
  const { clientConfig, conversionReviewVersions } = part(webhook);
  const isEmpty = clientConfig === undefined && list(conversionReviewVersions).length === 0;
  return { ...object, spec: { ...spec, conversion: isEmpty ? others : { ...others, webhook } } };
};

/** The node of an endpoint is in its topology as well, as the slices of v1beta1 have it. */
const olderSlice: Tidy = (slice) => ({
  ...slice,
  endpoints: list(slice.endpoints).map((endpoint) => {
    const topology = part(endpoint.topology);
    const { nodeName } = endpoint;
    return nodeName === undefined
      ? endpoint
      : { ...endpoint, topology: { 'kubernetes.io/hostname': nodeName, ...topology } };
  }),
});

type TidyPart = (part: JsonObject) => JsonObject;

/** A port that has no name says so by a number. */
const olderBackend: TidyPart = ({ servicePort, ...others }) =>
  servicePort === '' ? { ...others, servicePort: 0 } : { ...others, servicePort };

/** A port is named or numbered, and a service has a name. */
const backend: TidyPart = ({ service, ...others }) => {
  if (service === undefined) return others;
  const { name, port } = part(service);
  const { name: portName, number } = part(port);
  return { ...others, service: { name: name || 'x', port: portName === undefined ? { number } : { name: portName } } };
};

const backends = (member: string, tidyPart: TidyPart): Tidy => {
  const tidyBackend = (value: unknown): unknown => (value === undefined ? undefined : tidyPart(part(value)));
  return (ingress) => {
    const spec = part(ingress.spec);
    const rules = list(spec.rules).map((rule) => {
      if (rule.http === undefined) return rule;
      const http = part(rule.http);
      const paths = list(http.paths).map((path) => ({ ...path, backend: tidyBackend(path.backend) }));
      return { ...rule, http: { ...http, paths } };
    });
    const { [member]: first, ...others } = spec;
    const tidy = tidyBackend(first);
    return { ...ingress, spec: { ...others, ...(tidy === undefined ? {} : { [member]: tidy }), rules } };
  };
};

const TIDIED: Readonly<Record<string, Tidy>> = {
  'apiextensions/v1.CustomResourceDefinition': definition,
  'apiextensions/v1beta1.CustomResourceDefinition': olderDefinition,
  'discovery/v1beta1.EndpointSlice': olderSlice,
  'extensions/v1beta1.Ingress': backends('backend', olderBackend),
  'networking/v1.Ingress': backends('defaultBackend', backend),
  'networking/v1beta1.Ingress': backends('backend', olderBackend),
  'rbac/v1alpha1.ClusterRoleBinding': olderSubjects,
  'rbac/v1alpha1.RoleBinding': olderSubjects,
};
