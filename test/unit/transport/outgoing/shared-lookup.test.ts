// Names of services that nobody answers for: how often the system is asked for them.

import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import test from 'ava';
import { checkedLookup } from '../../../../transport/outgoing/checked-lookup.ts';
import { NOTHING_SHOWN } from '../../../../transport/outgoing/connection-file.ts';
import { ServiceClient } from '../../../../transport/outgoing/service-client.ts';
import { sharedLookup } from '../../../../transport/outgoing/shared-lookup.ts';

type Answer = (error: NodeJS.ErrnoException | null, addresses?: dns.LookupAddress[]) => void;

/** Names that the tests here answer for. All others are for the system: tests of other files may run in this process. */
const OURS = '.looked-up.test';
/** What the system is asked, to be answered by the test. */
const asked: { readonly name: string; readonly answer: Answer }[] = [];
const system = dns.lookup as (name: string, options: object, answer: Answer) => void;
dns.lookup = ((name: string, options: object, answer: Answer) => {
  if (name.endsWith(OURS)) asked.push({ name, answer });
  else system(name, options, answer);
}) as unknown as typeof dns.lookup;
syncBuiltinESMExports();

const PLACE: dns.LookupAddress = { address: '192.0.2.1', family: 4 };

/** What a connection is told. */
function told(lookup: typeof sharedLookup, name: string, all: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    lookup(name, { all }, (error, address) => resolve(error?.message ?? address));
  });
}

test.serial(
  'calls of a service whose name is being looked up wait for that together, and other names do not wait for it',
  async (t) => {
    const clientOf = (name: string): ServiceClient =>
      new ServiceClient({
        connection: { ...NOTHING_SHOWN, url: `http://${name}/`, caPem: '', insecure: false, serverName: '' },
        readFile: () => Promise.reject(new Error('there are no files')),
        nowMs: () => 0,
        onRefused: () => {},
      });
    const [one, other] = [clientOf(`one${OURS}`), clientOf(`other${OURS}`)];
    const calls = [one.post('{}', 60_000), one.post('{}', 60_000), one.post('{}', 60_000), other.post('{}', 60_000)];
    const words = Promise.all(calls.map((call) => call.catch((error: Error) => error.message)));
    await new Promise((resolve) => setImmediate(resolve));
    t.deepEqual(
      asked.map(({ name }) => name),
      [`one${OURS}`, `other${OURS}`],
    );
    const code = 'ENOTFOUND';
    for (const { name, answer } of asked.splice(0))
      answer(Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, syscall: 'getaddrinfo', hostname: name }));
    const expected = [`one${OURS}`, `one${OURS}`, `one${OURS}`, `other${OURS}`];
    for (const [index, said] of (await words).entries()) t.regex(String(said), new RegExp(`lookup ${expected[index]}`));
  },
);

test.serial(
  'who waits for a name together is told all of its addresses or the first, as each asks, and a name that is known is asked for anew',
  async (t) => {
    const all = told(sharedLookup, `both${OURS}`, true);
    const first = told(sharedLookup, `both${OURS}`, false);
    const checked = told(
      checkedLookup(() => 'not there'),
      `both${OURS}`,
      true,
    );
    t.is(asked.length, 1);
    asked.pop()!.answer(null, [PLACE, { ...PLACE, address: '192.0.2.2' }]);
    t.deepEqual(await all, [PLACE, { ...PLACE, address: '192.0.2.2' }]);
    t.is(await first, '192.0.2.1');
    t.is(await checked, 'not there');
    const again = told(sharedLookup, `both${OURS}`, false);
    asked.pop()!.answer(null, []);
    t.is(await again, `both${OURS} has no address`);
  },
);
