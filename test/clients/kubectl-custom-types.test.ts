// kubectl on custom types: everything that it does with built-in ones.
import test from 'ava';
import { eventually } from '../integration/objects.ts';
import { clusters } from './clusters.ts';

const { inBothDialects, inKubernetes } = clusters(test);

const GROUP = 'shop.example.com';

/** @param words the dialect's group, and the beginning of its words in schemas. */
const definition = (words: { readonly group: string; readonly prefix: string }): string => `
apiVersion: apiextensions.${words.group}/v1
kind: CustomResourceDefinition
metadata: {name: baskets.${GROUP}}
spec:
  group: ${GROUP}
  scope: Namespaced
  names: {plural: baskets, singular: basket, kind: Basket, shortNames: [bk], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Owner, type: string, jsonPath: .spec.owner, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: What a customer wants.
        properties:
          spec:
            type: object
            description: The wish.
            required: [owner]
            properties:
              owner: {type: string, description: Who pays.}
              size: {type: integer, default: 1, maximum: 9}
              any: {type: object, ${words.prefix}preserve-unknown-fields: true}
              items:
                type: array
                ${words.prefix}list-type: map
                ${words.prefix}list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}
          status:
            type: object
            properties:
              size: {type: integer}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
`;

const basket = (name: string, spec: string): string =>
  `apiVersion: ${GROUP}/v1\nkind: Basket\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

inBothDialects('kubectl applies, shows, scales, waits for and deletes custom objects', async (t, cluster) => {
  const { kubectl, dialect } = cluster;
  const { client } = cluster.server;
  const words = { group: dialect.groupDomain, prefix: dialect.openapiExtensionPrefix };
  const ns = await kubectl.freshNamespace('custom');
  t.regex(await kubectl.ok(['apply', '-f', '-'], definition(words)), /created/);
  await kubectl.ok(['wait', '--for=condition=Established', `crd/baskets.${GROUP}`, '--timeout=120s']);
  t.regex(
    await kubectl.ok(['api-resources', `--api-group=${GROUP}`]),
    /baskets\s+bk\s+shop\.example\.com\/v1\s+true\s+Basket/,
  );
  t.is(
    await kubectl.ok([...ns, 'apply', '-f', '-'], basket('a', '{owner: me, any: {x: [1]}, items: [{name: milk}]}')),
    `basket.${GROUP}/a created\n`,
  );
  t.regex(
    await kubectl.refused([...ns, 'apply', '-f', '-'], basket('b', '{owner: me, size: 10}')),
    /should be less than or equal to 9/,
  );
  t.is(
    await kubectl.ok([...ns, 'apply', '-f', '-'], basket('a', '{owner: you, items: [{name: milk, count: 2}]}')),
    `basket.${GROUP}/a configured\n`,
  );
  const server = ['apply', '--server-side', '--field-manager=other', '-f', '-'];
  t.regex(await kubectl.refused([...ns, ...server], basket('a', '{owner: them}')), /conflict/);
  t.regex(
    await kubectl.ok([...ns, ...server], basket('a', '{items: [{name: eggs, count: 6}], owner: you}')),
    /serverside-applied/,
  );

  const path = `/apis/${GROUP}/v1/namespaces/${ns[1]}/baskets/a`;
  const status = { status: { size: 1, conditions: [{ type: 'Ready', status: 'True' }] } };
  const headers = { 'content-type': 'application/merge-patch+json' };
  t.is((await client.request('PATCH', `${path}/status`, { body: status, headers })).status, 200);
  await kubectl.ok([...ns, 'wait', '--for=condition=Ready', 'bk/a', '--timeout=120s']);
  t.regex(await kubectl.ok([...ns, 'get', 'bk']), /NAME\s+SIZE\s+READY\s+AGE\na\s+1\s+True\s+\w+\n/);
  t.regex(await kubectl.ok([...ns, 'get', 'bk', '-o', 'wide']), /OWNER[^\n]*\na\s+1\s+True\s+you/);
  t.regex(await kubectl.ok([...ns, 'get', 'all']), /basket\.shop\.example\.com\/a/);
  t.is(await kubectl.ok([...ns, 'get', 'bk', 'a', '-o', 'jsonpath={.spec.items[*].name}']), 'eggs');
  t.regex(await kubectl.ok([...ns, 'scale', 'bk/a', '--replicas=4']), /scaled/);
  t.is(await kubectl.ok([...ns, 'get', 'bk', 'a', '-o', 'jsonpath={.spec.size}']), '4');
  t.regex(await kubectl.ok([...ns, 'label', 'bk/a', 'x=y']), /labeled/);
  t.regex(await kubectl.ok([...ns, 'patch', 'bk/a', '--type=merge', '-p', '{"spec":{"owner":"we"}}']), /patched/);
  t.regex(await kubectl.ok([...ns, 'describe', 'bk/a']), /Owner:\s+we/);
  t.regex(await kubectl.ok([...ns, 'delete', 'bk/a']), /deleted/);
  t.regex(await kubectl.ok(['delete', 'crd', `baskets.${GROUP}`]), /deleted/);
  t.regex(
    await kubectl.refused([...ns, 'get', 'bk']),
    /doesn't have a resource type|could not find the requested resource/,
  );
});

inKubernetes(
  'kubectl explains custom types, and checks objects by their published schemas',
  async (t, { kubectl, dialect }) => {
    const ns = await kubectl.freshNamespace('explained');
    const words = { group: dialect.groupDomain, prefix: dialect.openapiExtensionPrefix };
    const explain = (field: string) =>
      eventually(
        () => kubectl.run(['explain', `basket.${field}`]),
        ({ code }) => code === 0,
      );
    await kubectl.ok(['apply', '-f', '-'], definition(words));
    const { stdout } = await explain('spec');
    t.regex(stdout, /The wish\./);
    t.regex(stdout, /owner\s+<string>/);
    t.regex((await explain('spec.items.name')).stdout, /<string>/);
    t.regex(
      await kubectl.refused([...ns, 'apply', '-f', '-'], basket('a', '{size: 1}')),
      /missing required field "owner"|spec\.owner/,
    );
    t.regex(await kubectl.refused([...ns, 'apply', '-f', '-'], basket('a', '{owner: me, sise: 1}')), /unknown field/);
  },
);
