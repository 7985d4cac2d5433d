// What is known of extension servers' documents, by how long those take to answer.
import test from 'ava';
import { type PresentDocuments, RemoteDocuments } from '../../../../actors/ingress/aggregation/remote-documents.ts';
import type { RemoteApiService } from '../../../../api/aggregation/api-service.ts';
import type { AgentTarget } from '../../../../transport/outgoing/agent-address.ts';
import type { AgentAnswer } from '../../../../transport/outgoing/agent-answer.ts';
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

/** Documents of servers that answer at once, in turn, each with status, ETag and text; and what they were asked with. */
function servers(time: VirtualTime, all: readonly RemoteApiService[], answers: (readonly [number, string, string])[]) {
  const tags: (string | undefined)[] = [];
  const send = async (
    _target: AgentTarget,
    { headers }: { readonly headers: readonly (readonly [string, string])[] },
  ) => {
    tags.push(headers.find(([name]) => name === 'if-none-match')?.[1]);
    const [status, etag, text] = answers.shift()!;
    return { status, headers: etag === '' ? [] : [['Etag', etag]], text: () => Promise.resolve(text) };
  };
  const of = async () => ({ client: { send }, target: {} });
  const present = { all };
  const documents = new RemoteDocuments(
    { all: () => present.all },
    { of } as unknown as ConstructorParameters<typeof RemoteDocuments>[1],
    fakeContext(time, () => Promise.resolve()),
  );
  /** As they are a minute later, when the answers have come. */
  const later = async () => {
    await time.advance(60_000);
    await documents.present();
    await time.settle();
    return documents.present();
  };
  return { documents, tags, present, later };
}

const texts = ({ documents }: PresentDocuments): readonly string[] => documents.map(({ text }) => text);

test('a document is asked for again by its tag, and is another edition only where it has changed', async (t) => {
  const time = new VirtualTime();
  const { documents, tags, later } = servers(
    time,
    [API_SERVICE],
    [
      [200, '"1"', 'one'],
      [304, '', ''],
      [500, '"x"', 'failed'],
      [200, '"2"', 'two'],
      [200, '"3"', 'two'],
    ],
  );
  const first = await documents.present();
  t.deepEqual(texts(first), ['one']);
  t.deepEqual(await documents.present(), first, 'it is not asked for again within a minute');
  for (const why of ['it is the same', 'there is none']) t.deepEqual(await later(), first, why);
  const second = await later();
  t.deepEqual(texts(second), ['two']);
  const third = await later();
  t.deepEqual(texts(third), ['two']);
  t.is(new Set([first, second, third].map(({ edition }) => edition)).size, 3);
  t.is(new Set([first, second, third].map(({ editions }) => editions.get('v1.example.com'))).size, 3);
  t.deepEqual(tags, [undefined, '"1"', '"1"', '"1"', '"2"']);
});

test('one server is asked once for all its groups, and what it said is forgotten while it is not available', async (t) => {
  const time = new VirtualTime();
  const other = { ...API_SERVICE, name: 'v2.example.com', version: 'v2' };
  const { documents, tags, present } = servers(
    time,
    [API_SERVICE, other],
    [
      [200, '"1"', 'one'],
      [200, '"1"', 'one'],
    ],
  );
  const { documents: shown, editions } = await documents.present();
  t.like(shown, [{ roots: ['/apis/example.com/v1', '/apis/example.com/v2'], text: 'one' }]);
  t.is(shown.length, 1);
  t.deepEqual([...editions.keys()], ['v1.example.com', 'v2.example.com']);
  present.all = [{ ...API_SERVICE, isAvailable: false }];
  t.deepEqual((await documents.present()).documents, []);
  present.all = [API_SERVICE];
  t.deepEqual(texts(await documents.present()), ['one']);
  t.deepEqual(tags, [undefined, undefined]);
});

test('documents are shown as far as there is room for them, and none that is too long by itself', async (t) => {
  const time = new VirtualTime();
  const most = 'a'.repeat(16 * 1024 * 1024);
  const all = [0, 1, 2, 3, 4, 5].map((number) => ({
    ...API_SERVICE,
    name: `v1.${number}`,
    group: `${number}`,
    backend: { ...API_SERVICE.backend, port: number },
  }));
  const { documents } = servers(time, all, [
    [200, '', `${most}a`],
    ...all.map((): [number, string, string] => [200, '', most]),
  ]);
  const { documents: shown } = await documents.present();
  t.deepEqual(
    shown.map(({ roots }) => roots),
    [['/apis/1/v1'], ['/apis/2/v1'], ['/apis/3/v1'], ['/apis/4/v1']],
  );
});
