// Integers of custom objects that doubles do not hold, on a real server: whatever is done with an object, they keep every digit.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { DEFINITIONS, establish, GROUP, path, TABLE } from './custom-definitions.ts';

const BIG = '9007199254740993';
const MAX = '9223372036854775807';
const MIN = '-9223372036854775808';

/** What JSON.parse would round is looked at as text. */
const numbersIn = (text: string): readonly string[] => [...text.matchAll(/-?\d{16,}/g)].map(([digits]) => digits);

const DEFINITION = {
  plural: 'counters',
  kind: 'Counter',
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          count: { type: 'integer', format: 'int64' },
          bound: { type: 'integer', maximum: 9007199254740992 },
          set: { type: 'array', items: { type: 'integer' }, 'x-orch-list-type': 'set' },
          free: { type: 'object', 'x-orch-preserve-unknown-fields': true },
          few: { type: 'integer', default: 1 },
        },
      },
    },
  },
  version: { additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.count' }] },
};

const counter = (name: string, spec: string): string =>
  `{"apiVersion":"${GROUP}/v1","kind":"Counter","metadata":{"name":"${name}"},"spec":${spec}}`;

test('integers of int64 keep their digits through create, read, patch, apply, tables and YAML', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client, DEFINITION);
  const at = path('counters');
  const specOf = (text: string): string => /"spec":(\{.*?\}\}?)/.exec(text)![1]!.replace(/,"few":1/, '');
  const send = async (method: string, where: string, body: string, type = 'application/json'): Promise<string> => {
    const answer = await client.request(method, where, { body, headers: { 'content-type': type } });
    t.true(answer.status < 300, answer.text);
    return answer.text;
  };

  const spec = `{"count":${MAX},"free":{"deep":[${MIN},${BIG},1]}}`;
  t.deepEqual(numbersIn(specOf(await send('POST', at, counter('a', spec)))), [MAX, MIN, BIG]);
  t.deepEqual(numbersIn(specOf((await client.get(`${at}/a`)).text)), [MAX, MIN, BIG]);
  t.true((await client.get(at)).text.includes(`"count":${MAX}`));
  const { text } = await client.get(`${at}/a`, { headers: { accept: 'application/yaml' } });
  t.true(text.includes(`count: ${MAX}`), text);
  const table = (await client.get(at, { headers: { accept: TABLE } })).text;
  t.true(table.includes(`["a",${MAX}]`), table);

  const merged = await send('PATCH', `${at}/a`, `{"spec":{"free":{"more":${BIG}}}}`, 'application/merge-patch+json');
  t.deepEqual(numbersIn(specOf(merged)), [MAX, MIN, BIG, BIG]);
  const patch = `[{"op":"test","path":"/spec/count","value":${MAX}},{"op":"replace","path":"/spec/count","value":${BIG}}]`;
  t.deepEqual(numbersIn(specOf(await send('PATCH', `${at}/a`, patch, 'application/json-patch+json'))).slice(0, 1), [
    BIG,
  ]);
  const rounded = `[{"op":"test","path":"/spec/count","value":9007199254740992}]`;
  const headers = { 'content-type': 'application/json-patch+json' };
  t.is((await client.request('PATCH', `${at}/a`, { body: rounded, headers })).status, 422);

  const whole = (await client.get(`${at}/a`)).text;
  const put = await send('PUT', `${at}/a`, whole.replace(`"count":${BIG}`, '"count":9007199254740995'));
  t.true(put.includes('"count":9007199254740995'));

  const apply = 'application/apply-patch+yaml';
  const yaml = `apiVersion: ${GROUP}/v1\nkind: Counter\nmetadata: {name: b}\nspec: {count: ${MAX}, set: [${BIG}, 2]}\n`;
  t.deepEqual(numbersIn(specOf(await send('PATCH', `${at}/b?fieldManager=one`, yaml, apply))), [MAX, BIG]);
  const other = `${yaml.slice(0, yaml.indexOf('spec'))}spec: {set: [9007199254740995]}\n`;
  t.deepEqual(numbersIn(specOf(await send('PATCH', `${at}/b?fieldManager=two`, other, apply))), [
    MAX,
    BIG,
    '9007199254740995',
  ]);
  const again = await send('PATCH', `${at}/b?fieldManager=one`, yaml.replace(`[${BIG}, 2]`, '[2]'), apply);
  t.deepEqual(numbersIn(specOf(again)), [MAX, '9007199254740995']);
  const conflict = await client.request('PATCH', `${at}/b?fieldManager=two`, {
    body: other.replace('{set', `{count: ${BIG}, set`),
    headers: { 'content-type': apply },
  });
  t.is(conflict.status, 409);
});

test('bounds hold for what no double holds, and defaults say it', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  await establish(client, DEFINITION);
  const at = path('counters');
  const post = (spec: string) => client.request('POST', at, { body: counter('a', spec) });
  const refused = await post(`{"bound":${BIG}}`);
  t.is(refused.status, 422);
  t.true(refused.text.includes(`Invalid value: ${BIG}`), refused.text);
  t.is((await post('{"bound":9007199254740992}')).status, 201);

  const own = `${DEFINITIONS}/counters.${GROUP}`;
  const body = (await client.get(own)).text.replace('"default":1', `"default":${MAX}`);
  const put = await client.request('PUT', own, { body });
  t.is(put.status, 200, put.text);
  t.true(put.text.includes(`"default":${MAX}`));
  const made = await client.request('POST', at, { body: counter('c', '{}') });
  t.true(made.text.includes(`"few":${MAX}`), made.text);
});
