// A profile is an administrator's to ask for, whoever's requests the load is.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { ProfiledBench } from '../../../bench/profile/profiled-bench.ts';
import { asUsers } from '../../../bench/static-users.ts';

/** In pprof's format: no sample, an empty text, and a period of nothing. */
const EMPTY_PROFILE = gzipSync(Buffer.from([0x32, 0x00, 0x5a, 0x00]));

const LOAD = {
  type: 'requests',
  connections: 2,
  request: { method: 'GET', path: '/read' },
  objects: 1,
  objectChoice: 'shared',
  capturesVersion: false,
  bounds: { seconds: 3600, count: 10, warmupSeconds: 0 },
} as const;

test('a load of other users is profiled as the administrator', async (t) => {
  const asked = new Map<string, string | undefined>();
  // Idle connections stay: a machine that is kept busy may need longer than a server's patience from one question to the next.
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, ({ url = '', headers }, response) => {
    const path = url.split('?')[0]!;
    asked.set(path, headers.authorization);
    response.end(path === '/debug/pprof/profile' ? EMPTY_PROFILE : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const bench = new ProfiledBench({ url: `http://127.0.0.1:${port}`, token: 'admin', pid: process.pid });
  t.teardown(async () => {
    await bench.close();
    server.close();
  });
  const { operations } = await bench.withTarget((target) =>
    bench.load({ ...LOAD, endpoint: asUsers(target, 'reader').endpoint, serverPid: process.pid }),
  );
  t.is(operations, 10);
  t.deepEqual(
    ['/read', '/debug/pprof/profile'].map((path) => asked.get(path)),
    ['Bearer bench-reader-00000000', 'Bearer admin'],
  );
});
