// What may be on its way between two threads is bounded, and the bounds are whole again whatever became of what was on its way.
import { MessageChannel } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import type { ActorDefinition, MessageOf, Protocol, Reply } from '../../../runtime/actor.ts';
import { createLogger } from '../../../runtime/logging/log.ts';
import type { Plan } from '../../../runtime/placement/plan.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { ThreadHost } from '../../../runtime/threads/thread-host.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

interface FarProtocol extends Protocol {
  readonly asks: {
    readonly answer: { readonly message: Record<never, never>; readonly reply: number };
    readonly hold: { readonly message: Record<never, never>; readonly reply: number };
  };
  readonly tells: { readonly note: { readonly what?: unknown } };
}

const MAX = 16;
/** Longer than any answer takes. */
const PATIENT = { deadlineMs: 240_000 } as const;
const [NEAR, FAR] = [0, 1];
const LOG = { level: 'silent', format: 'json' } as const;

/** Two ends of a plan in one thread, so that a test has both in its hand. */
async function twoEnds(t: ExecutionContext) {
  const held: Reply[] = [];
  let notes = 0;
  const far = {
    actor: 'far',
    mailboxMax: MAX,
    stopOrder: 1,
    create: () => ({
      onMessage({ type }: MessageOf<FarProtocol>, reply: Reply) {
        if (type === 'hold') held.push(reply);
        else if (type === 'note') notes++;
        else reply.send(notes);
      },
    }),
  } as unknown as ActorDefinition<unknown>;
  const plan: Plan = {
    name: 'two',
    threads: [
      { name: 'near', group: 'near', actors: [] },
      { name: 'far', group: 'far', actors: [{ actor: 'far', name: 'far', index: 0, settings: {} }] },
    ],
    warnings: [],
  };
  const onCrash = (error: Error) => t.fail(error.message);
  const ends = [NEAR, FAR].map((thread) => {
    const log = createLogger('end', LOG);
    return new ThreadHost<unknown>({
      plan,
      thread,
      actors: [far],
      options: {},
      environment: realEnvironment,
      log,
      onCrash,
    });
  });
  const connect = (): void => {
    const { port1, port2 } = new MessageChannel();
    ends[NEAR]!.connect(FAR, port1);
    ends[FAR]!.connect(NEAR, port2);
  };
  connect();
  const { system } = ends[FAR]!;
  await system.create();
  t.teardown(async () => {
    await system.stop();
    connect();
    ends[NEAR]!.system.deadlines.close();
  });
  const ref = ends[NEAR]!.system.refNamed<FarProtocol>('far');
  return { ref, held, far: system, connect };
}

type Ends = Awaited<ReturnType<typeof twoEnds>>;

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + PATIENT.deadlineMs;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`never came true: ${holds}`);
    await new Promise(setImmediate);
  }
}

/** Tells without a turn between them, until there is no room. */
function toldAtOnce({ ref }: Ends, what?: unknown): number {
  let told = 0;
  while (told <= 2 * MAX && ref.tell({ type: 'note', what }) === 'queued') told++;
  return told;
}

/** A turn in which there is room for all that may be told. */
async function untilRoom(ends: Ends): Promise<void> {
  await until(() => ends.ref.tell({ type: 'note' }) === 'queued');
  await ends.ref.ask({ type: 'answer' }, PATIENT);
}

test('however many were told before, no more are on their way at once than the mailbox takes', async (t) => {
  const ends = await twoEnds(t);
  await ends.far.start();
  for (let round = 0; round < 8; round++) {
    t.true(toldAtOnce(ends) <= MAX);
    await untilRoom(ends);
  }
});

test('what cannot be sent takes no room', async (t) => {
  const ends = await twoEnds(t);
  await ends.far.start();
  for (let round = 0; round < 4; round++) {
    t.is(
      toldAtOnce(ends, () => {}),
      MAX,
    );
    await until(() => ends.ref.tell({ type: 'note', what: () => {} }) === 'queued');
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }
  t.is(await ends.ref.ask({ type: 'answer' }, PATIENT), 0);
});

test('asks that were cancelled before their turn leave their room to others', async (t) => {
  const ends = await twoEnds(t);
  for (let ask = 0; ask < MAX; ask++) {
    const late = new AbortController();
    const asked = ends.ref.ask({ type: 'hold' }, { ...PATIENT, signal: late.signal });
    late.abort();
    await t.throwsAsync(asked);
  }
  await ends.far.start();
  let answered = false;
  await until(() => {
    ends.ref.ask({ type: 'answer' }, PATIENT).then(
      () => {
        answered = true;
      },
      () => {},
    );
    return answered;
  });
  t.is(ends.held.length, 0);
});

test('an ask that waits for an actor when that one stops is told so', async (t) => {
  const ends = await twoEnds(t);
  const asked = t.throwsAsync(ends.ref.ask({ type: 'answer' }, PATIENT), { code: 'ActorDown' });
  await until(() => ends.far.stats().some(({ name, depth }) => name === 'far' && depth === 1));
  await ends.far.stop();
  await asked;
});

test('with a connection ends what was on its way, and the next has all the room', async (t) => {
  const ends = await twoEnds(t);
  await ends.far.start();
  const holdAll = () => Array.from({ length: MAX }, () => ends.ref.ask({ type: 'hold' }, PATIENT));
  const before = holdAll().map((asked) => t.throwsAsync(asked, { code: 'ActorDown' }));
  await until(() => ends.held.length === MAX);
  t.is(toldAtOnce(ends), MAX);
  const replies = ends.held.splice(0);
  t.true(replies.every(({ isAwaited }) => isAwaited));
  ends.connect();
  await Promise.all(before);
  await until(() => replies.every(({ isAwaited }) => !isAwaited));
  for (const reply of replies) reply.send(0);
  const after = holdAll();
  t.is(toldAtOnce(ends), MAX);
  await until(() => ends.held.length === MAX);
  for (const reply of ends.held) reply.send(7);
  t.deepEqual(new Set(await Promise.all(after)), new Set([7]));
});
