// How much a service may answer: more to who sends much, since what it was sent may come back in another form.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { NOTHING_SHOWN } from '../../../../transport/outgoing/connection-file.ts';
import { ServiceClient } from '../../../../transport/outgoing/service-client.ts';

const PATIENT_MS = 240_000;
const MEBIBYTE = 1024 * 1024;

async function clientOf(t: ExecutionContext, answerBytes: number): Promise<ServiceClient> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify('x'.repeat(answerBytes))));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new ServiceClient({
    connection: { ...NOTHING_SHOWN, url: `http://127.0.0.1:${port}/`, caPem: '', insecure: false, serverName: '' },
    readFile: () => Promise.reject(new Error('there are no files')),
    nowMs: () => performance.now(),
    onRefused: () => {},
  });
  t.teardown(() => {
    client.close();
    server.close();
  });
  return client;
}

test('who is sent an object of some megabytes may answer with one that is larger', async (t) => {
  const client = await clientOf(t, 6 * MEBIBYTE);
  const sent = JSON.stringify('y'.repeat(4 * MEBIBYTE));
  const read = await client.postUnread(sent, PATIENT_MS);
  t.is((read() as string).length, 6 * MEBIBYTE);
});

test('who is sent little may not answer with megabytes', async (t) => {
  const client = await clientOf(t, 6 * MEBIBYTE);
  await t.throwsAsync(client.postUnread('{}', PATIENT_MS), { message: /answered more than it may/ });
});
