// What a server that was told to stop still does, and in which order.
import { once } from 'node:events';
import { connect } from 'node:tls';
import ava from 'ava';
import { LISTENERS, testOn } from '../server/listeners.ts';
import { startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const PATH = '/api/v1/namespaces/default/configmaps';

for (const ingress of LISTENERS) {
  const test = testOn(ingress);
  test(`a watch hears of what the requests in progress still do while the server stops (${ingress})`, async (t) => {
    const server = await startServer(t, { args: ['--ingress', ingress] });
    const { client, port, caPem, token } = server;
    const watch = await client.watch(`${PATH}?watch=1&fieldSelector=metadata.name%3Dlast`);
    const socket = connect({ host: '127.0.0.1', port, ca: caPem, ALPNProtocols: ['http/1.1'] });
    t.teardown(() => void socket.destroy());
    let received = '';
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (piece: string) => {
      received += piece;
    });
    await once(socket, 'secureConnect');
    const body = JSON.stringify({ metadata: { name: 'last' } });
    const head = [
      `POST ${PATH} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const underWay = async (): Promise<boolean> =>
      /^apiserver_current_inflight_requests\{request_kind="mutating"\} [1-9]/m.test(
        (await client.get('/metrics')).text,
      );
    await eventually(underWay, (is) => is);
    const stopped = server.stop();
    const refused = (): Promise<boolean> =>
      new Promise((resolve) => {
        const probe = connect({ host: '127.0.0.1', port, ca: caPem });
        probe.once('secureConnect', () => resolve(false)).once('error', () => resolve(true));
        probe.once('secureConnect', () => probe.destroy());
      });
    await eventually(refused, (is) => is);
    socket.write(body);
    await eventually(
      async () => received,
      (text) => /^HTTP\/1\.1 201 /.test(text),
    );
    t.is((await watch.next())?.type, 'ADDED');
    t.is(await stopped, 0);
  });
}

ava('a server without a terminal outlives a hang-up, as under nohup, and opens no debugger', async (t) => {
  const server = await startServer(t);
  process.kill(server.pid, 'SIGHUP');
  process.kill(server.pid, 'SIGUSR1');
  t.is((await server.client.get('/readyz')).status, 200);
  t.is(await server.stop(), 0);
  t.notRegex(server.stderr, /Debugger/);
});
