// kubectl on the objects of an extension server, through the server that users know, in both dialects.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ava from 'ava';
import { DIALECT_NAMES, DIALECTS } from '../../config/dialect.ts';
import { eventually } from '../integration/objects.ts';
import { OUTSIDE, twoServers } from '../server/extension-server.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { Kubectl } from './kubectl.ts';

const test = OUTSIDE === undefined ? ava.skip : testNeeding(ava, ['kubectl']);
const GROUP = 'shop.example.com';

const spec = {
  type: 'object',
  description: 'The wish.',
  required: ['owner'],
  properties: { owner: { type: 'string', description: 'Who pays.' }, size: { type: 'integer', maximum: 9 } },
};
const definition = {
  metadata: { name: `baskets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'baskets', singular: 'basket', kind: 'Basket', shortNames: ['bk'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        schema: { openAPIV3Schema: { type: 'object', description: 'What a customer wants.', properties: { spec } } },
      },
    ],
  },
};
const basket = (size: number): string =>
  `apiVersion: ${GROUP}/v1\nkind: Basket\nmetadata: {name: one}\nspec: {owner: jo, size: ${size}}\n`;

for (const name of DIALECT_NAMES) {
  test(`kubectl reads, watches, writes and explains what an extension server has (${name})`, async (t) => {
    const dialect = DIALECTS[name];
    const { front, extension, direct, files } = await twoServers(t, {}, ['--api-dialect', name]);
    const kubectl = new Kubectl(front);
    t.teardown(() => kubectl.dispose());
    const definitions = `/apis/${dialect.spell('apiextensions.@group')}/v1/customresourcedefinitions`;
    const defined = await direct.request('POST', definitions, { body: definition });
    t.is(defined.status, 201, defined.text);
    await eventually(
      () => direct.get(`/apis/${GROUP}/v1/baskets`),
      ({ status }) => status === 200,
    );
    const caBundle = readFileSync(join(files, 'ca.crt')).toString('base64');
    const apiService = {
      apiVersion: `${dialect.spell('apiregistration.@group')}/v1`,
      kind: 'APIService',
      metadata: { name: `v1.${GROUP}` },
      spec: {
        group: GROUP,
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { namespace: 'default', name: 'extension', port: extension.port },
        caBundle,
      },
    };
    await kubectl.ok(['apply', '-f', '-'], JSON.stringify(apiService));
    await kubectl.ok(['wait', '--for=condition=Available', `apiservice/v1.${GROUP}`, '--timeout=120s']);
    t.regex(await kubectl.ok(['get', 'apiservice', `v1.${GROUP}`]), /default\/extension\s+True/);
    t.regex(
      await kubectl.ok(['api-resources', `--api-group=${GROUP}`]),
      /baskets\s+bk\s+shop\.example\.com\/v1\s+true/,
    );
    // It finds types in documents by a word of Kubernetes' own.
    if (name === 'kubernetes') {
      const explained = await eventually(
        () => kubectl.run(['explain', 'baskets.spec.owner']),
        ({ code }) => code === 0,
      );
      t.regex(explained.stdout, /Who pays\./);
    }
    t.regex(await kubectl.ok(['apply', '-f', '-'], basket(1)), /basket\.shop\.example\.com\/one created/);
    const watching = kubectl.follow(t, ['get', 'bk', '-w']);
    await watching.lineMatching(/^one\s+1$/);
    t.regex(await kubectl.ok(['apply', '-f', '-'], basket(2)), /configured/);
    await watching.lineMatching(/^one\s+2$/);
    t.regex(await kubectl.ok(['get', 'bk']), /NAME\s+SIZE\none\s+2\n/);
    t.regex(
      await kubectl.ok(['apply', '--server-side', '--force-conflicts', '-f', '-'], basket(3)),
      /serverside-applied/,
    );
    const stored = await direct.get(`/apis/${GROUP}/v1/namespaces/default/baskets/one`);
    t.like(stored.json, { spec: { owner: 'jo', size: 3 } });
    t.regex(await kubectl.refused(['apply', '-f', '-'], basket(10)), /spec\.size/);
    const waits = kubectl.ok(['wait', '--for=delete', 'bk/one', '--timeout=120s']);
    t.regex(await kubectl.ok(['delete', 'bk', 'one']), /deleted/);
    await waits;
    t.is((await direct.get(`/apis/${GROUP}/v1/namespaces/default/baskets/one`)).status, 404);
  });
}
