import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import test from 'ava';
import { freePort } from '../../../bench/server/free-port.ts';

test('a port that was given is given to nobody else while its process lives', async (t) => {
  const ports = await Promise.all(Array.from({ length: 200 }, freePort));
  t.is(new Set(ports).size, ports.length);
  const other = createSocket('udp4');
  other.bind({ port: ports[0]!, address: '127.0.0.1', exclusive: true });
  const [error] = (await once(other, 'error')) as [NodeJS.ErrnoException];
  t.is(error.code, 'EADDRINUSE');
  other.close();
});
