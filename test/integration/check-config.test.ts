// `orch check-config` as an operator runs it: every problem a line, nothing made, and a start says the same.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { agentPair } from '../server/fake-agent.ts';
import { ORCH } from '../server/program.ts';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const orch = (...args: string[]): Promise<Ended> => node(ORCH, ...args);

const node = (...args: string[]): Promise<Ended> => nodeWith({}, ...args);

/** With these variables beside what the environment has. */
function nodeWith(variables: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
  const env = { ...process.env, ...variables };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'orch-check-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The lines that are problems, without what they begin with. */
const problemsOf = ({ stderr }: Ended): string[] =>
  stderr.split('\n').flatMap((line) => (line.startsWith('orch: ') ? [line.slice('orch: '.length)] : []));

test('a configuration that a server can start with is found good, and nothing is made for it', async (t) => {
  const own = folder(t);
  const { certPem, keyPem } = await agentPair('agent', 'clientAuth');
  for (const [name, text] of [
    ['agent.crt', certPem],
    ['agent.key', keyPem],
    ['tokens.csv', 'secret,jane,1\n'],
    [
      'placement.mine.json',
      '{"threads":[{"name":"all","actors":["ingress","auth","audit","hub","admission","store"]}]}',
    ],
  ] as const) {
    writeFileSync(join(own, name), text);
  }
  const before = readdirSync(own);
  const file = (name: string): string => join(own, name);
  for (const program of ['up', 'apiserver']) {
    const { code, stdout, stderr } = await orch(
      'check-config',
      program,
      ...['--data-dir', file('data'), '--cert-dir', file('pki'), '--token-auth-file', file('tokens.csv')],
      ...['--placement', file('placement.mine.json'), '--orchlet-client-certificate', file('agent.crt')],
      ...['--orchlet-client-key', file('agent.key'), '--orchlet-certificate-authority', file('agent.crt')],
      ...['--service-account-key-file', file('agent.crt'), '--service-account-signing-key-file', file('agent.key')],
      ...['--lease-reuse-duration-seconds=9'],
    );
    t.is(code, 0, stderr);
    t.is(stdout, `orch ${program} can start with this\n`);
    t.regex(stderr, /^warning: --lease-reuse-duration-seconds is not in force: /m);
    t.regex(stderr, /^warning: no thread hosts controllers: /m);
    t.notRegex(stderr, /^(?!warning: )./m);
  }
  t.deepEqual(readdirSync(own), before);
});

test('the options and files of a scheduler of its own are looked at without asking anybody', async (t) => {
  const own = folder(t);
  const file = (name: string, text: string): string => {
    writeFileSync(join(own, name), text);
    return join(own, name);
  };
  const good = await orch(
    'check-config',
    'scheduler',
    '--master',
    'http://127.0.0.1:1',
    '--cert-dir',
    join(own, 'pki'),
  );
  t.is(good.code, 0, good.stderr);
  t.is(good.stdout, 'orch scheduler can start with this\n');
  t.false(existsSync(join(own, 'pki')));
  const config = {
    apiVersion: 'kubescheduler.config.k8s.io/v1beta1',
    kind: 'KubeSchedulerConfiguration',
    extenders: [{ urlPrefix: 'there' }],
  };
  const ended = await orch(
    'check-config',
    'scheduler',
    ...['--config', file('scheduler.json', JSON.stringify(config)), '--tls-cert-file', join(own, 'none.crt')],
    ...['--tls-private-key-file', join(own, 'none.key'), '--authorization-orchconfig', join(own, 'none')],
  );
  t.is(ended.code, 1);
  const problems = problemsOf(ended);
  t.regex(problems[0] ?? '', /scheduler\.json: extenders\[0\]\.urlPrefix: is not an address$/);
  t.is(problems.length, 3, ended.stderr);
});

test('a plug-in module that cannot be loaded, or has no plug-in of the name, is told before a start', async (t) => {
  const own = folder(t);
  const config = join(own, 'scheduler.json');
  const profile = { plugins: { filter: { enabled: [{ name: 'Mine' }] } } };
  const HEAD = { apiVersion: 'kubescheduler.config.k8s.io/v1beta1', kind: 'KubeSchedulerConfiguration' };
  writeFileSync(config, JSON.stringify({ ...HEAD, pluginModules: ['mine.mjs'], profiles: [profile] }));
  for (const [text, problem] of [
    [undefined, /^the plug-ins of \/.+\/mine\.mjs cannot be loaded: /],
    ['export const plugins = { Other: () => ({}) };', /^profile default-scheduler: there is no plug-in Mine$/],
    ['export const plugins = { Mine: () => ({}) };', /^profile default-scheduler: .*Mine cannot run at filter$/],
    ['export const plugins = { Mine: () => ({ prepareFilter: () => null }) };', undefined],
  ] as const) {
    if (text !== undefined) writeFileSync(join(own, 'mine.mjs'), text);
    for (const program of ['up', 'scheduler']) {
      const more = program === 'up' ? ['--data-dir', join(own, 'data')] : ['--master', 'http://127.0.0.1:1'];
      const ended = await orch('check-config', program, '--config', config, ...more);
      t.is(problemsOf(ended).length, problem === undefined ? 0 : 1, ended.stderr);
      if (problem !== undefined) t.regex(problemsOf(ended)[0]!, problem);
    }
  }
});

test('what is wrong with the flags is told all at once, one line each', async (t) => {
  const args = ['--v=x', '--nope', '5', '--profilin', '--secure-port', '0', '--feature-gates', 'DryRun=false'];
  const ended = await orch('check-config', 'apiserver', ...args, '--tls-cert-file', 'a');
  t.is(ended.code, 1);
  t.is(ended.stdout, '');
  t.deepEqual(
    problemsOf(ended).map((line) => line.split(':', 1)[0]),
    [
      'unknown flag',
      'unknown flag',
      'invalid value "x" for --v',
      'invalid value "0" for --secure-port',
      'invalid value "DryRun=false" for --feature-gates',
      '--tls-cert-file needs --tls-private-key-file beside it',
    ],
  );
});

/** A file that is of no use, the flag that names it, and what is said of it. */
const BAD_FILES: readonly (readonly [flags: readonly string[], text: string, problem: RegExp])[] = [
  [['--token-auth-file'], 'only-a-token\n', /bad:1: a line needs a token/],
  [['--placement'], '{\n"threads": 3 }', /bad:2: "threads" is not a list/],
  [['--encryption-provider-config'], 'kind: Nothing', /the encryption configuration .*bad: /],
  [['--service-account-key-file'], 'nothing', /bad: holds no PEM block/],
  [['--orchlet-certificate-authority'], 'nothing', /bad cannot be used for node agents: /],
  [['--tls-cert-file', '--tls-private-key-file'], 'nothing', /bad and .*bad cannot be used: /],
  [['--authorization-policy-file'], '{"kind":"Pol', /bad:1: /],
  [['--audit-policy-file'], 'kind: Policy', /the audit policy .*bad: apiVersion: must be audit\.orch\.io\/v1 or /],
  [['--client-ca-file'], 'nothing', /bad holds no certificates/],
  [['--basic-auth-file'], 'only-a-password\n', /bad:1: a line needs a token/],
  [['--authentication-token-webhook-config-file'], 'kind: Nothing', /bad: /],
  [
    ['--admission-control-config-file'],
    'kind: Nothing',
    /the admission configuration .*bad: kind: must be AdmissionConfiguration/,
  ],
  [['--data-dir'], '', /--data-dir .*bad cannot be written to \(ENOTDIR\)/],
  [['--proxy-client-cert-file', '--proxy-client-key-file'], 'nothing', /bad and .*bad cannot be used: /],
  [['--orchlet-client-certificate', '--orchlet-client-key'], '', /bad cannot be used for node agents: /],
  [['--store-cafile'], 'nothing', /--store-cafile .*bad holds no certificates/],
  [['--store-certfile', '--store-keyfile'], 'nothing', /bad and .*bad cannot be used: /],
];

/** What else the server needs for the flag to be looked at. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  '--authorization-policy-file': ['--authorization-mode', 'ABAC'],
  '--audit-policy-file': ['--audit-log-path', '-'],
  '--store-cafile': ['--store-servers', 'https://127.0.0.1:1'],
  '--store-certfile': ['--store-servers', 'https://127.0.0.1:1'],
};

// One after the other: each is two processes, and there are many.
for (const [flags, text, problem] of BAD_FILES) {
  test.serial(`a file of no use for ${flags.join(' and ')} is told, and keeps a server from starting`, async (t) => {
    const own = folder(t);
    const bad = join(own, 'bad');
    writeFileSync(bad, text);
    const args = flags.flatMap((flag) => [flag, bad]);
    const more = flags.includes('--data-dir') ? [] : ['--data-dir', join(own, 'data')];
    more.push(...flags.flatMap((flag) => BESIDE[flag] ?? []));
    const checked = await orch('check-config', ...args, ...more);
    t.is(checked.code, 1);
    t.is(problemsOf(checked).length, 1, checked.stderr);
    t.regex(problemsOf(checked)[0]!, problem);
    t.false(existsSync(join(own, 'data')));
    const started = await orch('up', ...args, ...more, '--secure-port', String(await freePort()));
    t.is(started.code, 1, started.stderr);
  });
}

/** Flags that name a file to be written, and what else a server needs to write it. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  '--audit-log-path': ['--audit-policy-file', 'policy.json'],
  '--log-file': ['--logtostderr=false'],
  '--scheduling-record': [],
};

for (const [flag, beside] of Object.entries(WRITTEN)) {
  test.serial(`a folder in place of the file of ${flag} is told, and keeps a server from starting`, async (t) => {
    const own = folder(t);
    const policy = { apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'None' }] };
    writeFileSync(join(own, 'policy.json'), JSON.stringify(policy));
    const more = beside.map((argument) => (argument === 'policy.json' ? join(own, argument) : argument));
    const args = [flag, own, ...more, '--data-dir', join(own, 'data')];
    const checked = await orch('check-config', ...args);
    t.deepEqual(problemsOf(checked), [`${flag} ${own} cannot be written to (EISDIR)`]);
    t.is(checked.code, 1);
    const good = await orch('check-config', flag, join(own, 'new', 'file'), ...more, '--data-dir', join(own, 'data'));
    t.is(good.code, 0, good.stderr);
    t.deepEqual(readdirSync(own), ['policy.json']);
    const started = await orch('up', ...args, '--secure-port', String(await freePort()));
    t.is(started.code, 1, started.stderr);
    t.is(problemsOf(started).length, 1, started.stderr);
    t.regex(problemsOf(started)[0]!, /cannot be written/);
  });
}

test('a folder in place of the file of --write-config-to is told', async (t) => {
  const own = folder(t);
  const ended = await orch('scheduler', '--master', 'http://127.0.0.1:1', '--write-config-to', own);
  t.is(ended.code, 1);
  t.deepEqual(problemsOf(ended), [`--write-config-to ${own} cannot be written to (EISDIR)`]);
});

for (const plugin of ['ImagePolicyWebhook', 'EventRateLimit']) {
  test(`${plugin} does not start without its settings`, async (t) => {
    const ended = await orch('check-config', '--enable-admission-plugins', plugin);
    t.is(ended.code, 1);
    t.deepEqual(problemsOf(ended), [`${plugin} needs settings in --admission-control-config-file`]);
  });
}

test('several files of no use are told together', async (t) => {
  const own = folder(t);
  const none = join(own, 'none');
  const ended = await orch(
    'check-config',
    ...['--token-auth-file', none, '--placement', none, '--service-account-key-file', none],
    ...['--runtime-config', 'nothing/v1=true'],
  );
  t.is(ended.code, 1);
  const problems = problemsOf(ended);
  t.is(problems.length, 4, ended.stderr);
  for (const what of [
    /runtime-config: there is no API/,
    /the placement/,
    /the token file/,
    /the service-account key/,
  ]) {
    t.is(problems.filter((line) => what.test(line)).length, 1, String(what));
  }
});

test('what lies in the data directory and would keep a server from starting is told', async (t) => {
  const own = folder(t);
  const { certPem } = await agentPair('agent', 'clientAuth');
  const { keyPem } = await agentPair('other', 'clientAuth');
  for (const name of ['pki', 'store']) mkdirSync(join(own, name));
  writeFileSync(join(own, 'pki', 'cluster-ca.crt'), certPem);
  writeFileSync(join(own, 'pki', 'cluster-ca.key'), keyPem);
  const ended = await orch('check-config', '--data-dir', own, '--store-servers', 'http://127.0.0.1:1');
  t.is(ended.code, 1);
  const [authority = '', store = ''] = problemsOf(ended);
  t.regex(
    authority,
    /cluster-ca\.crt and \/.+\/cluster-ca\.key cannot be used: the key does not belong to the certificate$/,
  );
  t.regex(store, /holds a store, which --store-servers would leave aside/);
});

const LEFT: Readonly<Record<string, RegExp>> = {
  'moved-1/store': /holds a store that was moved into etcd \(moved-1\): start with --store-servers/,
  'store.restored': /holds a restore that was not finished: run it again/,
};

for (const [what, said] of Object.entries(LEFT)) {
  test(`a data directory with ${what} and without a store is told, where the store is to be there`, async (t) => {
    const own = folder(t);
    mkdirSync(join(own, what), { recursive: true });
    t.regex(problemsOf(await orch('check-config', '--data-dir', own)).join('\n'), said);
    t.is((await orch('check-config', '--data-dir', own, '--store-servers', 'http://127.0.0.1:1')).code, 0);
    t.is((await orch('check-config', '--data-dir', own, '--store-engine', 'memory')).code, 0);
  });
}

test('a data directory that cannot be written to is told, and help is not a configuration', async (t) => {
  const own = folder(t);
  mkdirSync(join(own, 'data'));
  writeFileSync(join(own, 'data', 'file'), '');
  const below = await orch('check-config', '--data-dir', join(own, 'data', 'file', 'deep', 'er'));
  t.regex(problemsOf(below)[0] ?? '', /cannot be written to \(ENOTDIR\)/);
  chmodSync(join(own, 'data'), 0o755);
  t.is((await orch('check-config', '--data-dir', join(own, 'data'))).code, 0);
  t.regex((await orch('check-config', '--help')).stdout, /^usage: orch check-config /);
});

test('a folder for the files of a log, or for a pair that is to be made, that cannot be written to is told to either program', async (t) => {
  const own = folder(t);
  writeFileSync(join(own, 'file'), '');
  const below = join(own, 'file', 'deep');
  for (const beside of [
    ['up', '--data-dir', join(own, 'data')],
    ['scheduler', '--master', 'http://127.0.0.1:1'],
  ]) {
    for (const flags of [
      ['--logtostderr=false', '--log-dir', below],
      ['--cert-dir', below],
    ]) {
      const ended = await orch('check-config', ...beside, ...flags);
      const [problem = '', ...others] = problemsOf(ended);
      t.regex(problem, new RegExp(`^${flags.at(-2)} .*deep cannot be written to \\(ENOTDIR\\)$`));
      t.deepEqual(others, []);
    }
  }
});

test('a line of a token file without a token is told by its place, and a start goes on without it', async (t) => {
  const own = folder(t);
  const tokens = join(own, 'tokens.csv');
  writeFileSync(tokens, 'one,ann,1\n,bob,2\n');
  const found = await orch('check-config', 'up', '--data-dir', join(own, 'data'), '--token-auth-file', tokens);
  t.is(found.code, 0, found.stderr);
  t.true(found.stderr.includes(`warning: ${tokens}:2: there is no token, and nobody is let in by it\n`));
});

test('a record of requests is not asked for where no thread writes it, and what a start would warn of is told', async (t) => {
  const own = folder(t);
  const [placement, policy] = [join(own, 'placement.json'), join(own, 'policy.json')];
  const actors = ['ingress', 'auth', 'hub', 'admission', 'store'];
  writeFileSync(placement, JSON.stringify({ threads: [{ name: 'all', actors }] }));
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
  );
  const options = ['--data-dir', join(own, 'data'), '--placement', placement, '--alsologtostderr'];
  const found = await orch('check-config', 'up', ...options);
  t.is(found.code, 0, found.stderr);
  t.regex(found.stderr, /^warning: no thread hosts audit: /m);
  t.regex(found.stderr, /^warning: --alsologtostderr changes nothing while /m);
  const audit = ['--audit-policy-file', policy, '--audit-log-path', join(own, 'log')];
  const refused = await orch('check-config', 'up', ...options, ...audit);
  t.is(refused.code, 1);
  t.regex(
    problemsOf(refused).join(),
    /^--audit-policy-file asks for events, and no thread of --placement \/.+\/placement\.json hosts audit/,
  );
});

test('what a start would say of its environment is told', async (t) => {
  const environment = { HTTPS_PROXY: 'http://proxy.example:3128', KUBE_MAX_PD_VOLS: 'many' };
  for (const program of ['up', 'apiserver', 'scheduler']) {
    const more = program === 'scheduler' ? [] : ['--data-dir', join(folder(t), 'data')];
    const { stderr } = await nodeWith(environment, ORCH, 'check-config', program, ...more);
    t.regex(stderr, /^warning: HTTPS_PROXY in the environment: not in force, since /m);
    t.is(/^warning: KUBE_MAX_PD_VOLS in the environment: /m.test(stderr), program !== 'apiserver');
  }
});

test('--ingress uws where its binary cannot be loaded is told before a start, in the words of the start', async (t) => {
  const own = folder(t);
  // As where npm brought no binary for this Node.
  const without = join(own, 'without.cjs');
  writeFileSync(
    without,
    `const Module = require('node:module');
    const load = Module._load;
    Module._load = function (name, ...rest) {
      if (/uws\\.js$/.test(name)) throw new Error('no binary for this Node');
      return load.call(this, name, ...rest);
    };`,
  );
  const refusal = ['uWebSockets.js cannot be loaded here (no binary for this Node)'];
  const args = ['--data-dir', join(own, 'data'), '--secure-port', String(await freePort())];
  const required = ['--require', without];
  t.deepEqual(problemsOf(await node(...required, ORCH, 'check-config', ...args, '--ingress', 'uws')), refusal);
  t.deepEqual(problemsOf(await node(...required, ORCH, 'up', ...args, '--ingress', 'uws')), refusal);
  for (const ingress of ['auto', 'node'])
    t.is((await node(...required, ORCH, 'check-config', ...args, '--ingress', ingress)).code, 0);
});
