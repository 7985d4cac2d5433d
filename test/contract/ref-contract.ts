// What every ref promises, wherever the actor is placed (docs/RUNTIME.md). Each kind of ref runs this suite.
import type { ExecutionContext, SerialFn, TestFn } from 'ava';
import type { Ref } from '../../runtime/actor.ts';
import { isOrchError, type OrchError, type OrchErrorCode } from '../../runtime/errors.ts';
import { SUBJECT_MAILBOX_MAX, type SubjectProtocol } from './ref-subject.ts';

export interface RefUnderTest {
  readonly ref: Ref<SubjectProtocol>;
  stop(): Promise<void>;
}

/** `refusesNonPlain`: what is not plain data is refused, as every ref does but the unchecked local one. */
export interface RefTraits {
  readonly refusesNonPlain: boolean;
}

/** Longer than any answer takes, shorter than the test's timeout. */
export const PATIENT = { deadlineMs: 240_000 } as const;

/** Registers the suite. `make` starts a fresh subject for every test. */
export function refContract(
  test: TestFn | SerialFn,
  where: string,
  traits: RefTraits,
  make: () => Promise<RefUnderTest>,
): void {
  const on = (title: string, run: (t: ExecutionContext, ref: Ref<SubjectProtocol>) => Promise<void>): void =>
    test(`${where}: ${title}`, async (t) => {
      const { ref, stop } = await make();
      try {
        await run(t, ref);
      } finally {
        await stop();
      }
    });

  answers(on);
  order(on);
  failures(on);
  if (traits.refusesNonPlain) nonPlain(on);
  bounds(on);
  waiting(on);
  soon(on);
}

type On = (title: string, run: (t: ExecutionContext, ref: Ref<SubjectProtocol>) => Promise<void>) => void;

function answers(on: On): void {
  on('an ask is answered with plain data as it was sent', async (t, ref) => {
    const value = { text: 'ä\u0000', list: [1, -0.5, null, { deep: true }], missing: undefined };
    t.deepEqual((await ref.ask({ type: 'echo', value }, PATIENT)).value, value);
  });

  on(
    'a message carries the number of its request, and so does what its handler sends in the same turn',
    async (t, ref) => {
      const asked = await ref.ask({ type: 'requestNumber', alsoAsks: true }, { ...PATIENT, requestNumber: 7 });
      t.deepEqual(asked, [7, 7, 0, 7]);
      ref.tell({ type: 'noteRequest' }, 8);
      ref.tell({ type: 'noteRequest' });
      t.deepEqual(await ref.ask({ type: 'notes' }, { ...PATIENT, requestNumber: 2 ** 30 }), [8, 0]);
      t.deepEqual(await ref.ask({ type: 'requestNumber' }, PATIENT), [0]);
    },
  );

  on('an actor is never called within the turn of the sender', async (t, ref) => {
    let answered = false;
    const answer = ref.ask({ type: 'noteAndCount', note: 1 }, PATIENT).then(() => {
      answered = true;
    });
    t.false(answered);
    await answer;
    t.true(answered);
  });

  on('payloads arrive intact, many in one turn and of any length', async (t, ref) => {
    const payloads = [0, 1, 7, 8, 9, 1000, 70_000].map((length) => Uint8Array.from({ length }, (_, at) => at * 7));
    const replies = await Promise.all(
      payloads.map((payload, value) => ref.ask({ type: 'echo', value, payload }, PATIENT)),
    );
    replies.forEach((reply, at) => {
      t.is(reply.value, at);
      t.deepEqual([...reply.payload!], [...payloads[at]!]);
    });
  });

  on('what is laid out flat arrives as it was sent, and so does what its form has no room for', async (t, ref) => {
    const sent = [[], ['a'], ['', 'ä\u0000', 'z'], ['1', '2', '3', '4'], ['b', 'c']].map((words, at) => {
      return at % 2 === 0 ? { words } : { words, payload: Uint8Array.from({ length: at * 9 }, (_, byte) => byte) };
    });
    const replies = await Promise.all(sent.map((words) => ref.ask({ type: 'echoWords', ...words }, PATIENT)));
    t.deepEqual(
      replies.map(({ words, payload }) => ({ words, ...(payload && { payload: Uint8Array.from(payload) }) })),
      sent,
    );
  });

  on('bytes outside the payload arrive as they were sent', async (t, ref) => {
    const pool = Uint8Array.from({ length: 64 }, (_, at) => at);
    const reply = await ref.ask({ type: 'echo', value: 1, extra: pool.subarray(10, 14) }, PATIENT);
    t.deepEqual([...reply.extra!], [10, 11, 12, 13]);
  });

  on('the message of the sender is left as it was', async (t, ref) => {
    const payload = Uint8Array.of(1, 2, 3);
    const message = { type: 'echo', value: { kept: 1 }, payload } as const;
    await ref.ask(message, PATIENT);
    t.deepEqual(message, { type: 'echo', value: { kept: 1 }, payload: Uint8Array.of(1, 2, 3) });
    t.is(payload.byteLength, 3);
  });

  on('shared memory is the same memory on both sides', async (t, ref) => {
    const memory = new SharedArrayBuffer(4);
    await ref.ask({ type: 'addShared', memory }, PATIENT);
    t.is(new Int32Array(memory)[0], 1);
  });

  on('only the first answer counts', async (t, ref) => {
    t.is(await ref.ask({ type: 'answerTwice' }, PATIENT), 'first');
    t.is(await ref.ask({ type: 'noteAndCount', note: 1 }, PATIENT), 1);
  });

  on('answers may come in another order than the asks', async (t, ref) => {
    const answered: string[] = [];
    const asks = ['a', 'b', 'c'].map((key) =>
      ref.ask({ type: 'hold', key }, PATIENT).then((value) => answered.push(`${key}=${value}`)),
    );
    for (const key of ['c', 'a', 'b']) ref.tell({ type: 'release', key, value: key.toUpperCase() });
    await Promise.all(asks);
    t.deepEqual(answered, ['c=C', 'a=A', 'b=B']);
  });
}

function order(on: On): void {
  on('messages of one sender are handled in the order they were sent, asks and tells alike', async (t, ref) => {
    const sent: number[] = [];
    const asks: Promise<unknown>[] = [];
    for (let round = 0; round < 20; round++) {
      for (let note = round * 10; note < round * 10 + 10; note++) {
        sent.push(note);
        if (note % 3 === 0) asks.push(ref.ask({ type: 'noteAndCount', note }, PATIENT));
        else if (note % 3 === 1) t.is(ref.tell({ type: 'note', note }), 'queued');
        else t.is(ref.tellSoon({ type: 'note', note }), 'queued');
      }
      await ref.ask({ type: 'notes' }, PATIENT);
      await untilRoom(ref);
    }
    await Promise.all(asks);
    const notes = (await ref.ask({ type: 'notes' }, PATIENT)).filter((note) => note >= 0);
    t.deepEqual(notes, sent);
  });
}

function failures(on: On): void {
  const cases: readonly [OrchErrorCode, unknown][] = [
    ['Refused', { status: { code: 409, causes: ['a', 'b'] } }],
    ['BadConfiguration', undefined],
    ['StoreUnusable', [1, 2]],
  ];
  for (const [code, details] of cases) {
    on(`an error keeps its code ${code}, text and details`, async (t, ref) => {
      const error = await failure(t, ref.ask({ type: 'refuse', code, text: 'because', details }, PATIENT), code);
      t.is(error.message, 'because');
      t.deepEqual(error.details, details);
    });
  }

  on('a handler that throws refuses its ask and goes on with the next', async (t, ref) => {
    const broken = ref.ask({ type: 'throwPlain', text: 'out of range' }, PATIENT);
    const next = ref.ask({ type: 'echo', value: 'next' }, PATIENT);
    t.is((await failure(t, broken, 'Refused')).message, 'out of range');
    t.is((await next).value, 'next');
  });
}

function nonPlain(on: On): void {
  on('an ask that is not plain data is refused and disturbs no other', async (t, ref) => {
    const callback = () => {};
    const before = ref.ask({ type: 'noteAndCount', note: 1 }, PATIENT);
    const flat = ref.ask({ type: 'echoWords', words: ['flat'], payload: Uint8Array.of(7) }, PATIENT);
    await t.throwsAsync(async () => await ref.ask({ type: 'echo', value: { callback } }, PATIENT));
    t.is(await before, 1);
    t.deepEqual([...(await flat).payload!], [7]);
    t.deepEqual(await ref.ask({ type: 'notes' }, PATIENT), [1]);
  });

  on('an answer that is not plain data refuses the ask and disturbs no other', async (t, ref) => {
    const before = ref.ask({ type: 'echo', value: 'before', payload: Uint8Array.of(5) }, PATIENT);
    const broken = ref.ask({ type: 'unsendable' }, PATIENT);
    const flat = ref.ask({ type: 'echoWords', words: ['flat'], payload: Uint8Array.of(7) }, PATIENT);
    const after = ref.ask({ type: 'echo', value: 'after', payload: Uint8Array.of(6) }, PATIENT);
    await failure(t, broken, 'Refused');
    t.deepEqual([...(await before).payload!], [5]);
    t.deepEqual([...(await flat).payload!], [7]);
    t.deepEqual([...(await after).payload!], [6]);
  });
}

function bounds(on: On): void {
  on('a full mailbox refuses tells and asks at once, and takes them again when it has room', async (t, ref) => {
    for (let note = 0; note < SUBJECT_MAILBOX_MAX; note++) t.is(ref.tell({ type: 'note', note }), 'queued');
    t.is(ref.tell({ type: 'note', note: -1 }), 'full');
    t.is(ref.tellSoon({ type: 'note', note: -1 }), 'full');
    await failure(t, ref.ask({ type: 'notes' }, PATIENT), 'Overloaded');
    await untilRoom(ref);
    const notes = await ref.ask({ type: 'notes' }, PATIENT);
    t.deepEqual(
      notes.filter((note) => note >= 0),
      Array.from({ length: SUBJECT_MAILBOX_MAX }, (_, note) => note),
    );
  });

  on(
    'asks that the actor has not answered hold their places, and leave room for what their answers wait for',
    async (t, ref) => {
      const keys = Array.from({ length: SUBJECT_MAILBOX_MAX - 1 }, (_, at) => `held ${at}`);
      const asks = keys.map((key) => ref.ask({ type: 'hold', key }, PATIENT));
      t.deepEqual(await ref.ask({ type: 'held' }, PATIENT), keys);
      const last = ref.ask({ type: 'hold', key: 'last' }, PATIENT);
      await failure(t, ref.ask({ type: 'notes' }, PATIENT), 'Overloaded');
      for (const key of [...keys, 'last']) {
        while (ref.tell({ type: 'release', key, value: key }) === 'full') await new Promise(setImmediate);
      }
      t.deepEqual(await Promise.all([...asks, last]), [...keys, 'last']);
    },
  );
}

function waiting(on: On): void {
  on('an ask that is not answered in time fails with DeadlineExceeded; a late answer is dropped', async (t, ref) => {
    const late = ref.ask({ type: 'hold', key: 'late' }, { deadlineMs: 20 });
    await failure(t, late, 'DeadlineExceeded');
    t.is(ref.tell({ type: 'release', key: 'late', value: 'too late' }), 'queued');
    t.is((await ref.ask({ type: 'echo', value: 'next' }, PATIENT)).value, 'next');
  });

  on('aborting the signal fails the ask with Cancelled', async (t, ref) => {
    const abort = new AbortController();
    const held = ref.ask({ type: 'hold', key: 'k' }, { ...PATIENT, signal: abort.signal });
    t.deepEqual(await ref.ask({ type: 'held' }, PATIENT), ['k']);
    abort.abort();
    await failure(t, held, 'Cancelled');
  });

  on('an ask cancelled before its turn is never handled', async (t, ref) => {
    const abort = new AbortController();
    const ask = ref.ask({ type: 'noteAndCount', note: 1 }, { ...PATIENT, signal: abort.signal });
    abort.abort();
    await failure(t, ask, 'Cancelled');
    const aborted = ref.ask({ type: 'noteAndCount', note: 2 }, { ...PATIENT, signal: abort.signal });
    await failure(t, aborted, 'Cancelled');
    t.deepEqual(await ref.ask({ type: 'notes' }, PATIENT), []);
  });

  on('an ask answered before its signal is aborted keeps its answer', async (t, ref) => {
    const abort = new AbortController();
    const reply = await ref.ask({ type: 'echo', value: 1 }, { ...PATIENT, signal: abort.signal });
    abort.abort();
    t.is(reply.value, 1);
  });
}

function soon(on: On): void {
  on('an ask for an answer soon is answered as any other, now or later', async (t, ref) => {
    const words = ['a', 'b', 'c', 'd'];
    t.deepEqual((await ref.askSoon({ type: 'echoWords', words }, PATIENT)).words, words);
    t.deepEqual(await ref.askSoon({ type: 'requestNumber' }, { ...PATIENT, requestNumber: 7 }), [7]);
    t.is(await ref.askSoon({ type: 'answerTwice' }, PATIENT), 'first');
    const held = ref.askSoon({ type: 'hold', key: 'k' }, PATIENT);
    ref.tell({ type: 'release', key: 'k', value: 'let go' });
    t.is(await held, 'let go');
    t.is(await ref.askSoon({ type: 'noteAndCount', note: 1 }, PATIENT), 1);
  });

  on('an ask for an answer soon keeps its place behind what its sender sent before', async (t, ref) => {
    ref.tell({ type: 'note', note: 1 });
    t.is(await ref.askSoon({ type: 'noteAndCount', note: 2 }, PATIENT), 2);
    t.deepEqual(await ref.askSoon({ type: 'notes' }, PATIENT), [1, 2]);
  });

  on('an ask for an answer soon fails as any other does, and is never thrown', async (t, ref) => {
    const refusing = { type: 'refuse', code: 'StoreUnusable', text: 'because', details: [1] } as const;
    const error = await failure(t, Promise.resolve(ref.askSoon(refusing, PATIENT)), 'StoreUnusable');
    t.deepEqual(error.details, [1]);
    const broken = ref.askSoon({ type: 'throwPlain', text: 'out of range' }, PATIENT);
    t.is((await failure(t, Promise.resolve(broken), 'Refused')).message, 'out of range');
    const late = ref.askSoon({ type: 'hold', key: 'late' }, { deadlineMs: 20 });
    await failure(t, Promise.resolve(late), 'DeadlineExceeded');
    const abort = new AbortController();
    abort.abort();
    const aborted = ref.askSoon({ type: 'noteAndCount', note: 1 }, { ...PATIENT, signal: abort.signal });
    await failure(t, Promise.resolve(aborted), 'Cancelled');
    t.deepEqual(await ref.askSoon({ type: 'notes' }, PATIENT), []);
  });

  on('asks for an answer soon that are not answered hold their places', async (t, ref) => {
    const keys = Array.from({ length: SUBJECT_MAILBOX_MAX }, (_, at) => `held ${at}`);
    const asks = keys.map((key) => Promise.resolve(ref.askSoon({ type: 'hold', key }, PATIENT)));
    await failure(t, Promise.resolve(ref.askSoon({ type: 'notes' }, PATIENT)), 'Overloaded');
    for (const key of keys) {
      while (ref.tell({ type: 'release', key, value: key }) === 'full') await new Promise(setImmediate);
    }
    t.deepEqual(await Promise.all(asks), keys);
    t.deepEqual(await ref.askSoon({ type: 'notes' }, PATIENT), []);
  });

  on('an actor that asks for an answer soon of itself is not called within its own turn', async (t, ref) => {
    t.deepEqual(await ref.ask({ type: 'noteAround' }, PATIENT), [1, 3, 2]);
    t.deepEqual(await ref.askSoon({ type: 'noteAround' }, PATIENT), [1, 3, 2, 1, 3, 2]);
  });
}

/** The OrchError that the promise rejects with, checked for its code. */
export async function failure(t: ExecutionContext, ask: Promise<unknown>, code: OrchErrorCode): Promise<OrchError> {
  const error = await t.throwsAsync(ask);
  t.true(isOrchError(error, code), `${String(error)} should have the code ${code}`);
  return error as OrchError;
}

/** Waits until the mailbox takes a message again; the message is a note of -1. */
export async function untilRoom(ref: Ref<SubjectProtocol>): Promise<void> {
  while (ref.tell({ type: 'note', note: -1 }) === 'full') await new Promise(setImmediate);
}
