// What headers say beyond ASCII, by either listener: as UTF-8, whether the answer is whole or streamed.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { request } from 'node:https';
import type { HttpsClient } from '../server/https-client.ts';
import { LISTENERS, testOn } from '../server/listeners.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { establish, path } from './custom-definitions.ts';

const WARNING = 'größe 你好';

const textOf = (value: unknown): string => Buffer.from(String(value), 'latin1').toString('utf8');

async function warningsOf(client: HttpsClient): Promise<readonly string[]> {
  const list = await client.get(path());
  const watch = await client.watch(`${path()}?watch=1`);
  const missing = await client.get(`${path()}/none`);
  watch.close();
  return [list, watch, missing].map(({ headers }) => textOf(headers.warning));
}

async function warningOverHttp2({ url, caPem, token }: ServerProcess): Promise<string> {
  const session = connectHttp2(url, { ca: caPem });
  const stream = session.request({ ':path': path(), authorization: `Bearer ${token}` });
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  session.destroy();
  return textOf(headers.warning);
}

for (const listener of LISTENERS) {
  testOn(listener)(`a warning is told in whatever script it is written (${listener})`, async (t) => {
    const server = await startServer(t, { args: ['--ingress', listener] });
    await establish(server.client, { version: { deprecated: true, deprecationWarning: WARNING } });
    const wanted = `299 - "${WARNING}"`;
    t.deepEqual(await warningsOf(server.client), [wanted, wanted, wanted]);
    if (listener === 'node') t.is(await warningOverHttp2(server), wanted);
  });
}

/** The status that a request gets, with these Authorization headers in turn. */
async function statusWith({ port, caPem }: ServerProcess, authorizations: readonly string[]): Promise<number> {
  const headers = ['Host', 'x', ...authorizations.flatMap((value) => ['Authorization', value])];
  const sent = request({ host: '127.0.0.1', port, ca: caPem, path: '/api/v1/namespaces', headers, agent: false });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode!;
}

for (const listener of LISTENERS) {
  testOn(listener)(`of several Authorization headers the first counts (${listener})`, async (t) => {
    const server = await startServer(t, { args: ['--ingress', listener] });
    const good = `Bearer ${server.token}`;
    t.is(await statusWith(server, [good, good]), 200);
    t.is(await statusWith(server, [good, 'Bearer wrong']), 200);
    t.is(await statusWith(server, ['Bearer wrong', good]), 401);
  });
}
