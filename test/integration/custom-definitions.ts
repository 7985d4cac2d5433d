// Definitions of custom types, and objects of them, for the tests of custom types.
import type { HttpsClient } from '../server/https-client.ts';
import { eventually } from './objects.ts';

export const GROUP = 'stable.example.com';
export const DEFINITIONS = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.orch.io';

export const SCHEMA = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['cron'],
      properties: {
        cron: { type: 'string', pattern: '^\\d+( \\d+)*$' },
        replicas: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
        image: { type: 'string', nullable: true },
        port: { 'x-orch-int-or-string': true },
        free: { type: 'object', 'x-orch-preserve-unknown-fields': true },
        parts: {
          type: 'array',
          'x-orch-list-type': 'map',
          'x-orch-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, size: { type: 'string', enum: ['S', 'L'], default: 'S' } },
          },
        },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, phase: { type: 'string' } } },
  },
};

interface Wanted {
  readonly plural?: string;
  readonly kind?: string;
  readonly schema?: object;
  readonly version?: object;
  readonly scope?: string;
  /** Behind the first. */
  readonly more?: readonly object[];
  readonly spec?: object;
}

/** A definition of one version. */
export const definition = ({
  plural = 'crontabs',
  kind = 'CronTab',
  schema = SCHEMA,
  version,
  scope,
  more = [],
  spec,
}: Wanted = {}) => ({
  apiVersion: 'apiextensions.orch.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: scope ?? 'Namespaced',
    names: { plural, kind, shortNames: [`${plural}x`], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Cron', type: 'string', jsonPath: '.spec.cron' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
        ],
        ...version,
      },
      ...more,
    ],
    ...spec,
  },
});

/** Where objects are. */
export const path = (plural = 'crontabs', namespace = 'default', version = 'v1') =>
  `/apis/${GROUP}/${version}/namespaces/${namespace}/${plural}`;

export const object = (name: string, spec: object, kind = 'CronTab') => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name },
  spec,
});

/** A condition of a definition. */
export const conditionOf = async (client: HttpsClient, name: string, type: string) => {
  const { json } = await client.get(`${DEFINITIONS}/${name}`);
  const conditions = (json.status as { conditions?: { type: string; status: string; reason: string }[] })?.conditions;
  return conditions?.find((one) => one.type === type);
};

/** Makes a definition, and waits until it is served. */
export async function establish(client: HttpsClient, wanted?: Wanted): Promise<void> {
  const body = definition(wanted);
  const answer = await client.request('POST', DEFINITIONS, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  await eventually(
    () => conditionOf(client, body.metadata.name, 'Established'),
    (condition) => condition?.status === 'True',
  );
}
