// What definitions and custom objects are refused for, on a real server: patterns, media types, and groups that need approval.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { conditionOf, DEFINITIONS, definition, establish, object, path } from './custom-definitions.ts';
import { eventually } from './objects.ts';

const APPROVED = 'api-approved.orch.io';

test('patterns are what RE2 takes, a Protobuf body is 415, and protected groups need approval', async (t) => {
  const { client } = await startServer(t);
  const patterned = (pattern: string): object => {
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: { type: 'string', pattern } } } },
    };
    return definition({ plural: 'patterned', kind: 'Patterned', schema, version: { subresources: {} } });
  };
  for (const pattern of ['a(?=b)', '(a)\\1', '(?<!a)b', 'a(', 'a{2,1}']) {
    const answer = await client.request('POST', DEFINITIONS, { body: patterned(pattern) });
    t.is(answer.status, 422, `${pattern}: ${answer.text}`);
    t.regex(String(answer.json.message), /properties\[a\]\.pattern: Invalid value/);
  }
  const good = patterned('(?i)^(?P<x>a+)\\z|\\pL|[[:alpha:]]|\\Q(\\E');
  t.is((await client.request('POST', DEFINITIONS, { body: good })).status, 201);

  await establish(client);
  const bytes = Buffer.from('k8s\0');
  for (const [method, at] of [
    ['POST', path()],
    ['PUT', `${path()}/a`],
  ] as const) {
    const answer = await client.request(method, at, {
      body: bytes,
      headers: { 'content-type': 'application/vnd.orch.protobuf' },
    });
    t.is(answer.status, 415, answer.text);
    t.is(answer.json.reason, 'UnsupportedMediaType');
  }
  t.is((await client.request('POST', path(), { body: object('a', { cron: '1' }) })).status, 201);
  const { kind, apiVersion, ...unnamed } = object('b', { cron: '1' });
  for (const [body, missing] of [
    [unnamed, 'Kind'],
    [{ ...unnamed, apiVersion }, 'Kind'],
    [{ ...unnamed, kind }, 'apiVersion'],
  ] as const) {
    const answer = await client.request('POST', path(), { body });
    t.is(answer.status, 400, answer.text);
    t.regex(String(answer.json.message), new RegExp(`^Object '${missing}' is missing in '`));
  }

  const ours = (plural: string, annotation?: string): { metadata: { name: string } } => {
    const group = 'sample.orch.io';
    const body = definition({ plural, kind: `Kind${plural}`, spec: { group } });
    const annotations = annotation === undefined ? {} : { [APPROVED]: annotation };
    return { ...body, metadata: { ...body.metadata, name: `${plural}.${group}`, ...{ annotations } } };
  };
  const needed = `protected groups must have approval annotation "${APPROVED}"`;
  for (const [body, problem] of [
    [ours('none'), `Required value: ${needed}`],
    [ours('bad', 'soon'), `Invalid value: "soon": ${needed} with either a URL or a reason starting with "unapproved"`],
  ] as const) {
    const answer = await client.request('POST', DEFINITIONS, { body });
    t.is(answer.status, 422);
    t.true(String(answer.json.message).endsWith(problem), String(answer.json.message));
  }
  const cases = [
    ['approved', 'https://example.com/1', 'True', 'ApprovedAnnotation'],
    ['bypassed', 'unapproved, an experiment', 'False', 'UnapprovedAnnotation'],
  ] as const;
  for (const [plural, text, status, reason] of cases) {
    const body = ours(plural, text);
    const made = await client.request('POST', DEFINITIONS, { body });
    t.is(made.status, 201, made.text);
    const condition = await eventually(
      () => conditionOf(client, body.metadata.name, 'OrchAPIApprovalPolicyConformant'),
      (found) => found !== undefined,
    );
    t.like(condition, { status, reason });
  }
  const json = { headers: { 'content-type': 'application/merge-patch+json' } };
  const taken = { metadata: { annotations: { [APPROVED]: null } } };
  const at = `${DEFINITIONS}/approved.sample.orch.io`;
  t.is((await client.request('PATCH', at, { ...json, body: taken })).status, 422, 'what is approved stays so');
  t.is(await conditionOf(client, 'crontabs.stable.example.com', 'OrchAPIApprovalPolicyConformant'), undefined);
});
