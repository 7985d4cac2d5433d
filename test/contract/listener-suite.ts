// What every listener promises to the ingress (transport/http.ts), tried over HTTP/1.1 with real sockets. Run by
// listener-uws.test.ts and listener-node.test.ts, plain and with TLS.
import { createServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { isOrchError } from '../../runtime/errors.ts';
import type { Listener, RequestHandler } from '../../transport/http.ts';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import { type ListenerName, testOn } from '../server/listeners.ts';
import { answerTests, failureTests } from './listener-answers.ts';
import { keptBodyTests } from './listener-bodies-kept.ts';
import { passedOnTests } from './listener-bodies-passed-on.ts';
import { eventually, RawClient } from './listener-client.ts';
import {
  answerPath,
  BINARY_HEADERS,
  ENDLESS_ANSWERS,
  get,
  JSON_HEADERS,
  listenerOptions,
  MEGABYTE,
  nameOf,
  type Open,
  pattern,
  type Served,
  serving,
  Taken,
  testPair,
} from './listener-fixture.ts';
import { bodyTests, requestTests } from './listener-requests.ts';
import { streamTests } from './listener-streams.ts';
import { webSocketTests } from './listener-web-sockets.ts';

/** Registers the suite's tests under the listener's name. */
export function http1Suite(listener: ListenerName, open: Open, isTls: boolean): void {
  const served = serving(listener, open, isTls);
  requestTests(served, isTls);
  bodyTests(served);
  passedOnTests(served);
  keptBodyTests(served, isTls);
  answerTests(served);
  failureTests(served);
  streamTests(served);
  webSocketTests(served);
  lifeTests(listener, open, isTls, served);
}

function lifeTests(kind: ListenerName, open: Open, isTls: boolean, served: Served): void {
  const name = nameOf(kind, isTls);
  const test = testOn(kind);
  const taken = new Taken();
  const held = taken.handler(JSON_HEADERS);
  const hold: RequestHandler = (request, response) => {
    if (request.path === '/held') held(request, response);
    else response.respond(200, JSON_HEADERS, 'other');
  };

  test.serial(`${name}: without a host it listens on the port, on every address`, async (t) => {
    const port = await freePort();
    const listener = await open(await listenerOptions(isTls, hold, { host: '', port }));
    t.is(listener.port, port);
    const client = await RawClient.open(port, isTls);
    client.send(get('/other'));
    t.is((await client.answer()).status, 200);
    client.close();
    await listener.close();
  });

  const closing = async (t: ExecutionContext, client: RawClient, listener: Listener): Promise<void> => {
    const other = await RawClient.open(listener.port, isTls);
    client.send(get('/held'));
    const response = await taken.next();
    listener.stopAccepting();
    await t.throwsAsync(RawClient.open(listener.port, isTls));
    response.write(Buffer.from('{"late":true}\n'));
    await client.until((received) => received.includes('late'));
    other.send(get('/'));
    await other.untilClosed();
    t.regex(other.text, /^$|Connection: close/i);
    await listener.close();
    await client.untilClosed();
    await eventually(() => response.aborted && listener.openConnections === 0);
    t.true(response.aborted);
  };
  served('after stopAccepting open streams go on, and close ends them', hold, closing, ENDLESS_ANSWERS);

  let refused = 0;
  const full = { connectionsMax: 2, onConnectionRefused: () => void refused++ };
  const filled = async (t: ExecutionContext, client: RawClient, listener: Listener): Promise<void> => {
    const turnedAway = async (): Promise<void> => {
      const wanted = refused + 1;
      // With TLS there is no handshake; without, the kernel has connected it before anybody else could look.
      await RawClient.open(listener.port, isTls).then(
        (other) => other.untilClosed(),
        () => {},
      );
      t.is(refused, wanted);
    };
    const second = await RawClient.open(listener.port, isTls);
    for (let i = 0; i < 3; i++) await turnedAway();
    second.close();
    await eventually(() => listener.openConnections === 1);
    const { tls } = await listenerOptions(isTls, hold);
    if (tls !== undefined) await listener.replaceTls(tls);
    const third = await RawClient.open(listener.port, isTls);
    await turnedAway();
    for (const one of [client, third]) {
      one.send(get('/'));
      t.is((await one.answer()).status, 200);
    }
  };
  served('connections beyond the most there may be are closed as they come, until another ends', hold, filled, full);

  served(
    'after sendAway everything is served, and a connection ends with its next answer',
    hold,
    async (t, client, listener) => {
      const other = await RawClient.open(listener.port, isTls);
      client.send(get('/held'));
      const response = await taken.next();
      listener.sendAway();
      other.send(get('/'));
      await other.untilClosed();
      t.regex(other.text, /^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*other$/i);
      response.write(Buffer.from('{"late":true}\n'));
      await client.until((received) => received.includes('late'));
      const late = await RawClient.open(listener.port, isTls);
      late.send(get('/'));
      await late.untilClosed();
      t.regex(late.text, /^HTTP\/1\.1 200 [\s\S]*other$/);
      response.end();
      await client.answer();
      // Where the answer began before it could say so, the next one does.
      if (!client.isClosed) client.send(get('/'));
      await client.untilClosed();
    },
  );

  const asked = new Taken();
  served(
    'close waits until a request that has come is answered',
    asked.taking(() => {}),
    async (t, client, listener) => {
      client.send(get('/'));
      const response = await asked.next();
      const closed = listener.close();
      await Promise.race([closed, new Promise((resolve) => setImmediate(resolve))]);
      response.respond(200, JSON_HEADERS, 'answered');
      t.regex((await client.answer()).body.toString(), /answered/);
      await closed;
    },
  );

  for (const how of ['at once', 'as a stream']) {
    const body = pattern(8 * MEGABYTE);
    const answered = new Taken();
    const answer = answered.taking((response) => {
      if (how === 'at once') response.respond(200, BINARY_HEADERS, body);
      else {
        response.start(200, BINARY_HEADERS);
        response.end(body);
      }
    });
    served(
      `close waits for a client that is reading what it was answered ${how}`,
      answer,
      async (t, client, listener) => {
        listener.sendAway();
        client.socket.pause();
        client.send(get('/'));
        await answered.next();
        const closed = listener.close();
        client.socket.resume();
        t.true((await client.answer()).body.equals(body));
        await client.untilClosed();
        await closed;
      },
    );
  }

  test.serial(`${name}: a taken port is the operator's error`, async (t) => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const address = holder.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const options = await listenerOptions(isTls, answerPath, { port });
    const error = await t.throwsAsync(open(options), { message: `address 127.0.0.1:${port} is already in use` });
    t.true(isOrchError(error, 'BadConfiguration'));
    holder.close();

    const listener = await open(await listenerOptions(isTls, answerPath));
    await t.throwsAsync(open({ ...options, port: listener.port }), { message: /is already in use/ });
    await listener.close();
  });

  test.serial(`${name}: an address of another machine is the operator's error`, async (t) => {
    const options = await listenerOptions(isTls, answerPath, { host: '192.0.2.1', port: 6443 });
    t.true(isOrchError(await t.throwsAsync(open(options)), 'BadConfiguration'));
  });

  test.serial(`${name}: a port is free again when its listener has closed`, async (t) => {
    const first = await open(await listenerOptions(isTls, answerPath));
    await first.close();
    const second = await open(await listenerOptions(isTls, answerPath, { port: first.port }));
    t.is(second.port, first.port);
    await second.close();
  });

  if (!isTls) return;
  test.serial(`${name}: a key that is not the certificate's is the operator's error`, async (t) => {
    const pair = await testPair;
    const other = await makeSelfSigned({
      commonName: 'x',
      names: ['x'],
      notBefore: new Date(),
      notAfter: new Date(Date.now() + 1e7),
    });
    for (const tls of [
      { certPem: pair.certPem, keyPem: other.keyPem },
      { certPem: 'nonsense', keyPem: pair.keyPem },
    ]) {
      const error = await t.throwsAsync(open(await listenerOptions(true, answerPath, { tls })));
      t.true(isOrchError(error, 'BadConfiguration'), String(error));
    }
  });
}
