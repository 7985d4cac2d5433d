// What is known of the objects that tokens speak for, with a hub and a stream of the test's own.
import test from 'ava';
import { Identities, type Identity, spokenFor } from '../../../actors/auth/authenticators/identities.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';

const ALIVE: Identity = { uid: 'u1', deletedMs: Number.POSITIVE_INFINITY, tokenDigest: '' };

const POD = spokenFor('pod', 'ns', 'p');

function world() {
  const following = { isWhole: false, followed: 0, follow: () => void following.followed++ };
  const questions: { readonly key: string; readonly answer: (identity: Identity | undefined) => void }[] = [];
  const identities = new Identities(
    ({ key }) => new Promise((resolve) => questions.push({ key, answer: resolve })),
    following,
  );
  return {
    following,
    questions,
    identities,
    find: () => identities.find(POD),
    change: (type: FeedEvent['type'], name = 'p', storageKey = 'core/pods') =>
      identities.onEvent({ type, storageKey, namespace: 'ns', name } as FeedEvent),
  };
}

test('an object is asked about once, and again when it has changed', async (t) => {
  const { change, find, following, identities, questions } = world();
  following.isWhole = true;
  const first = find();
  t.is(find(), first, 'while the question is open it is not asked again');
  questions[0]!.answer(ALIVE);
  t.is(await first, ALIVE);
  t.is(find(), ALIVE);
  change('put', 'another');
  change('put', 'p', 'core/secrets');
  change('present');
  t.is(find(), ALIVE, 'nothing that concerns it');
  for (const type of ['put', 'delete'] as const) {
    change(type);
    const again = find();
    t.not(again, ALIVE);
    questions.at(-1)!.answer(ALIVE);
    await again;
    t.is(find(), ALIVE);
  }
  identities.reset();
  t.not(find(), ALIVE, 'a stream that begins again may have missed a change');
  t.is(questions.length, 4);
});

test('what may have changed while it was asked about is not kept', async (t) => {
  const { change, find, following, questions } = world();
  following.isWhole = true;
  const before = find();
  change('delete');
  const after = find();
  t.not(after, before, 'who asks after the change is not told what was before it');
  questions[0]!.answer(ALIVE);
  questions[1]!.answer(undefined);
  t.is(await before, ALIVE);
  t.is(await after, undefined);
  t.not(find(), ALIVE);
  t.is(questions.length, 3, 'nor is kept that something is not there');
});

test('the stream is followed from the first question on, and nothing is kept until it is whole', async (t) => {
  const { find, following, questions } = world();
  t.is(following.followed, 0);
  const early = find();
  t.is(following.followed, 1);
  following.isWhole = true;
  questions[0]!.answer(ALIVE);
  await early;
  t.not(find(), ALIVE);
});

test('a hub that cannot answer fails those who asked, and is asked again', async (t) => {
  let asked = 0;
  const following = { isWhole: true, follow: () => {} };
  const identities = new Identities(async () => Promise.reject(new Error(`no ${++asked}`)), following);
  for (const message of ['no 1', 'no 2']) await t.throwsAsync(async () => identities.find(POD), { message });
});
