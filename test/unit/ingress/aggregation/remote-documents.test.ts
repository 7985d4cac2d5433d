// What is known of extension servers' documents, by how long those take to answer.
import test from 'ava';
import { RemoteDocuments } from '../../../../actors/ingress/aggregation/remote-documents.ts';
import type { RemoteApiService } from '../../../../api/aggregation/api-service.ts';
import type { AgentTarget } from '../../../../transport/outgoing/agent-address.ts';
import type { AgentAnswer } from '../../../../transport/outgoing/agent-client.ts';
import { fakeContext } from '../../controllers/fake-context.ts';
import { VirtualTime } from '../../controllers/virtual-time.ts';

const API_SERVICE: RemoteApiService = {
  name: 'v1.example.com',
  group: 'example.com',
  version: 'v1',
  backend: { namespace: 'default', service: 'extension', port: 443 },
  caPem: '',
  insecure: true,
  groupPriority: 1,
  versionPriority: 1,
  isAvailable: true,
};

/** The document, as answered after `delayMs`, and how often it was asked for. `findMs`: how long it takes to find the server. */
function extension(time: VirtualTime, delayMs: number, findMs = 0) {
  const asked = { times: 0 };
  const send = (_target: AgentTarget, _request: object, onSent: (cancel: () => void) => void): Promise<AgentAnswer> => {
    asked.times++;
    return new Promise((resolve, reject) => {
      const text = () => Promise.resolve('{"paths":{}}');
      const answer = { status: 200, headers: [['ETag', 'first']], text } as unknown as AgentAnswer;
      const timer = time.timers.after(delayMs, () => resolve(answer));
      onSent(() => {
        timer.cancel();
        reject(new Error('cancelled'));
      });
    });
  };
  const target = {} as unknown as AgentTarget;
  const of = async () => {
    if (findMs > 0) await new Promise<void>((resolve) => time.timers.after(findMs, resolve));
    return { client: { send }, target };
  };
  const documents = new RemoteDocuments(
    { all: () => [API_SERVICE] },
    { of },
    fakeContext(time, () => Promise.resolve()),
  );
  return { documents, asked };
}

test('a document that comes later than anybody waits for it is shown to who asks next, and not asked for again', async (t) => {
  const time = new VirtualTime();
  const { documents, asked } = extension(time, 8000);
  let first: unknown;
  void documents.present().then((present) => {
    first = present.documents.length;
  });
  await time.advance(4999);
  t.is(first, undefined);
  await time.advance(1);
  t.is(first, 0);
  t.is((await documents.present()).documents.length, 0, 'nobody waits twice');
  await time.advance(3000);
  const late = await documents.present();
  t.like(late.documents, [{ roots: ['/apis/example.com/v1'], text: '{"paths":{}}' }]);
  t.is(asked.times, 1);
  t.is(time.timersWaiting, 0);
});

test('a server that never answers is given up after a minute, and asked again then', async (t) => {
  const time = new VirtualTime();
  const { documents, asked } = extension(time, 1e9);
  void documents.present();
  await time.advance(59_999);
  await documents.present();
  t.is(asked.times, 1);
  await time.advance(1);
  void documents.present();
  await time.settle();
  t.is(asked.times, 2);
});

test('a server that never answers is given up, too, when finding it has taken all of the time', async (t) => {
  const time = new VirtualTime();
  const { documents, asked } = extension(time, 1e9, 61_000);
  void documents.present();
  await time.advance(61_000);
  t.is(asked.times, 1);
  void documents.present();
  await time.advance(61_000);
  t.is(asked.times, 2);
});

test('an answer in time is waited for by all who ask, and kept', async (t) => {
  const time = new VirtualTime();
  const { documents, asked } = extension(time, 1000);
  const both = Promise.all([documents.present(), documents.present()]);
  await time.advance(1000);
  for (const { documents: shown } of await both) t.is(shown.length, 1);
  t.is((await documents.present()).documents.length, 1);
  t.is(asked.times, 1);
});
