// Who may decide about certificate requests, who may sign them, and which subject nobody may ask for: a table of each plugin.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { certificateRequest } from '../../server/certificate-request.ts';
import { AdmissionWorld } from './admission-world.ts';

const REQUESTS = '/apis/certificates.orch.io/v1/certificatesigningrequests';
const ROLES = '/apis/rbac.authorization.orch.io/v1';
const base64 = (name: string): string =>
  readFileSync(`test/fixtures/certificate-requests/${name}.pem`).toString('base64');

const SPEC = { request: base64('user'), signerName: 'example.test/signer', usages: ['client auth'] };
const APPROVED = [{ type: 'Approved', status: 'True' }];
const FAILED = [{ type: 'Failed', status: 'True' }];

/** A world of access rules in which `tester` has the verbs on the signers, and nothing else. */
async function worldWhere(verbs: readonly string[], signers: readonly string[]): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start({ authorizationModes: 'RBAC' });
  const rule = { apiGroups: ['certificates.orch.io'], resources: ['signers'], verbs, resourceNames: signers };
  await world.created(`${ROLES}/clusterroles`, { metadata: { name: 'it' }, rules: verbs.length === 0 ? [] : [rule] });
  await world.created(`${ROLES}/clusterrolebindings`, {
    metadata: { name: 'it' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'it' },
    subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'tester' }],
  });
  await world.created(REQUESTS, { metadata: { name: 'r' }, spec: SPEC });
  return world;
}

const refusedTo = (verb: string): string =>
  `certificatesigningrequests.certificates.orch.io "r" is forbidden: user not permitted to ${verb} requests with signerName "example.test/signer"`;

interface Case {
  readonly who: string;
  readonly verbs: readonly string[];
  readonly signers: readonly string[];
  readonly subresource: string;
  readonly body: object;
  /** Empty: the write is let through. */
  readonly refusal: string;
}

const approve = { subresource: 'approval', body: { status: { conditions: APPROVED } } };
const sign = { subresource: 'status', body: { status: { conditions: FAILED } } };

const cases: readonly Case[] = [
  {
    who: 'an approver of the signer approves',
    verbs: ['approve'],
    signers: [SPEC.signerName],
    ...approve,
    refusal: '',
  },
  {
    who: 'an approver of the domain approves',
    verbs: ['approve'],
    signers: ['example.test/*'],
    ...approve,
    refusal: '',
  },
  { who: 'an approver of all signers approves', verbs: ['approve'], signers: [], ...approve, refusal: '' },
  { who: 'nobody in particular approves', verbs: [], signers: [], ...approve, refusal: refusedTo('approve') },
  {
    who: 'an approver of another signer approves',
    verbs: ['approve'],
    signers: ['example.test/other', 'other.test/*', '*'],
    ...approve,
    refusal: refusedTo('approve'),
  },
  { who: 'a signer approves', verbs: ['sign'], signers: [], ...approve, refusal: refusedTo('approve') },
  { who: 'a signer of the signer signs', verbs: ['sign'], signers: [SPEC.signerName], ...sign, refusal: '' },
  { who: 'a signer of the domain signs', verbs: ['sign'], signers: ['example.test/*'], ...sign, refusal: '' },
  { who: 'an approver signs', verbs: ['approve'], signers: [], ...sign, refusal: refusedTo('sign') },
  {
    who: 'nobody in particular writes a status that changes nothing',
    verbs: [],
    signers: [],
    subresource: 'status',
    body: { metadata: { labels: { a: 'b' } } },
    refusal: '',
  },
  {
    who: 'nobody in particular changes labels',
    verbs: [],
    signers: [],
    subresource: '',
    body: { metadata: { labels: { a: 'b' } } },
    refusal: '',
  },
];

for (const { who, verbs, signers, subresource, body, refusal } of cases) {
  test(`${who}: ${refusal === '' ? 'let through' : 'refused'}, in a dry run as well`, async (t) => {
    const world = await worldWhere(verbs, signers);
    const path = subresource === '' ? `${REQUESTS}/r` : `${REQUESTS}/r/${subresource}`;
    for (const parameters of [{ dryRun: ['All'] }, {}]) {
      const answer = await world.write('patch', path, { body, parameters });
      t.is(answer.code, refusal === '' ? 200 : 403, answer.body.message);
      if (refusal !== '') t.is(answer.body.message, refusal);
    }
    await world.stop();
  });
}

test('superusers approve and sign whatever the modes of authorization say', async (t) => {
  const world = await worldWhere([], []);
  const user = { groups: ['system:masters'] };
  for (const [name, { subresource, body }] of Object.entries({ r: approve, s: sign })) {
    if (name === 's') await world.created(REQUESTS, { metadata: { name }, spec: SPEC });
    t.is((await world.write('patch', `${REQUESTS}/${name}/${subresource}`, { body, user })).code, 200);
  }
  await world.stop();
});

const requestFor = (subject: string): string => Buffer.from(certificateRequest(subject).requestPem).toString('base64');

test("no client certificate is asked for the superusers' group, but other signers may be", async (t) => {
  const world = await AdmissionWorld.start();
  const client = 'orch.io/orch-apiserver-client';
  const table = [
    ['/O=system:masters/CN=me', client, 403],
    ['/O=dev/O=system:masters/CN=me', client, 403],
    ['/O=system:master/CN=me', client, 201],
    ['/O=dev/CN=system:masters', client, 201],
    ['/CN=me', client, 201],
    ['/O=system:masters/CN=me', 'example.test/signer', 201],
    ['/O=system:masters/CN=me', 'orch.io/orch-apiserver-client-orchlet', 201],
  ] as const;
  for (const [index, [subject, signerName, code]] of table.entries()) {
    const body = {
      metadata: { name: `r${index}` },
      spec: { request: requestFor(subject), signerName, usages: ['client auth'] },
    };
    const answer = await world.write('create', REQUESTS, { body });
    t.is(answer.code, code, `${subject} ${signerName}: ${answer.body.message}`);
    if (code === 403) {
      t.is(
        answer.body.message,
        `certificatesigningrequests.certificates.orch.io "r${index}" is forbidden: use of ${client} signer with system:masters group is not allowed`,
      );
    }
  }
  await world.stop();
});
