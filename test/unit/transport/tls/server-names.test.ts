// Which certificate a name finds: the operator's patterns and those of certificates, in Kubernetes 1.21's order.
import test from 'ava';
import { makeSelfSigned } from '../../../../transport/tls/self-signed.ts';
import { nameToAskFor, patternProblem, serverNames } from '../../../../transport/tls/server-names.ts';

const NO_CERTIFICATE = '';

async function certificate(commonName: string, names: readonly string[]): Promise<string> {
  const now = Date.now();
  const times = { notBefore: new Date(now - 1000), notAfter: new Date(now + 86_400_000) };
  return (await makeSelfSigned({ commonName, names, ...times })).certPem;
}

const entry = (value: string, ...patterns: string[]) => ({ value, patterns, certPem: NO_CERTIFICATE });

const FOUND: readonly (readonly [name: string, expected: string | undefined])[] = [
  ['a.example.com', 'exact'],
  ['A.Example.COM', 'exact'],
  ['a.example.com.', 'exact'],
  ['b.example.com', 'wild'],
  ['example.com', undefined],
  ['x.b.example.com', 'wilder'],
  ['y.x.b.example.com', undefined],
  ['host', 'single'],
  ['other', undefined],
  ['', undefined],
];

for (const [name, expected] of FOUND) {
  test(`${JSON.stringify(name)} finds ${expected ?? 'nothing'}`, (t) => {
    const names = serverNames([
      entry('wild', '*.example.com'),
      entry('wilder', '*.*.example.com', '*.example.com'),
      entry('single', 'host'),
      entry('exact', 'A.example.com'),
      // The pair that is given first has the name.
      entry('late', 'a.example.com', 'host'),
    ]);
    t.is(names.find(name), expected);
  });
}

test('a pattern of stars alone is for every name of so many labels', (t) => {
  const names = serverNames([entry('one', '*'), entry('two', '*.*')]);
  t.deepEqual(['host', 'a.example', 'a.b.example'].map(names.find), ['one', 'two', undefined]);
});

test('patterns in words go before the names of certificates, and those before nothing', async (t) => {
  const certPem = await certificate('cn.example.com', ['dns.example.com', '*.wild.example.com', '10.1.2.3']);
  const names = serverNames([{ value: 'read', patterns: [], certPem }, entry('said', 'dns.example.com')]);
  t.is(names.find('dns.example.com'), 'said');
  t.is(names.find('cn.example.com'), 'read');
  t.is(names.find('x.wild.example.com'), 'read');
  t.is(names.find('10.1.2.3'), undefined);
  t.is(names.byAddress.size, 0);
});

test('an exact name goes before a pattern, whichever pair it is of', (t) => {
  const names = serverNames([entry('wild', '*.example.com'), entry('exact', 'a.example.com')]);
  t.is(names.find('a.example.com'), 'exact');
  t.is(names.find('b.example.com'), 'wild');
});

test('an address that a client asks for as if it were a name is found as it is meant', (t) => {
  const names = serverNames([entry('v4', '10.1.2.3'), entry('v6', 'fd00:0::1')]);
  t.is(names.find('10.1.2.3'), 'v4');
  t.is(names.find('fd00::1'), 'v6');
  t.is(names.find('10.1.2.4'), undefined);
});

test('addresses are found by where a client connected to', (t) => {
  const { byAddress } = serverNames([entry('v4', '10.1.2.3'), entry('v6', 'fd00:0::1')]);
  t.deepEqual(
    [...byAddress],
    [
      ['10.1.2.3', 'v4'],
      ['fd00::1', 'v6'],
    ],
  );
});

test('a common name that is no host name is none of the names', async (t) => {
  for (const commonName of ['Our Server', '10.1.2.3', '-']) {
    const names = serverNames([{ value: 'read', patterns: [], certPem: await certificate(commonName, ['a']) }]);
    t.is(names.find('a'), 'read');
    t.is(names.find(commonName), undefined);
    t.is(names.byAddress.size, 0);
  }
});

test('what is neither host name, pattern nor address is said to be', (t) => {
  for (const good of ['a', 'a.b-c.d', '*', '*.a', '*.*.a', '10.0.0.1', '::1', 'A.b'])
    t.is(patternProblem(good), undefined, good);
  for (const bad of ['', 'a..b', 'a.*', '-a', 'a b', '*a.b', 'a_b', `${'a'.repeat(64)}.b`, '1:2'])
    t.regex(patternProblem(bad) ?? '', /is neither a host name/, bad);
});

test('of a certificate that is not for an address, clients ask for its first name, or for one of its pattern', async (t) => {
  const cases: readonly (readonly [names: readonly string[], address: string, asked: string | undefined])[] = [
    [['127.0.0.1', 'a.example'], '127.0.0.1', undefined],
    [['::1', 'a.example'], '::1', undefined],
    [['10.0.0.1', 'a.example', 'b.example'], '127.0.0.1', 'a.example'],
    [['*.a.example'], '127.0.0.1', 'any.a.example'],
    [['10.0.0.1'], '127.0.0.1', undefined],
  ];
  for (const [names, address, asked] of cases) {
    t.is(nameToAskFor(await certificate('common.example', names), address), asked, names.join());
  }
});
