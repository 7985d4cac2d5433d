// What quotas measure by: records that are only parsed where somebody asks, wherever they lie by then.
import test from 'ava';
import { MeasuredObjects } from '../../../actors/controllers/quotas/measured-objects.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { feedEvent } from '../scheduler/fake-context.ts';
import { DIALECT } from './fixture.ts';

const PODS = 'core/pods';

/** A pod's event at a revision, whose record names where it lies. */
function podAt(place: string, revision: number, parsed: string[]): FeedEvent {
  const object = () => {
    parsed.push(place);
    return { metadata: { name: 'p', namespace: 'ns' }, spec: {} };
  };
  const event = feedEvent('put', PODS, { metadata: { name: 'p', namespace: 'ns' } });
  return { ...event, revision, object, kept: () => ({ revision, object }) };
}

function measured(): { objects: MeasuredObjects; parsed: string[] } {
  const objects = new MeasuredObjects(
    DIALECT,
    new Map([
      [PODS, [{ group: '', plural: 'pods' }]],
      ['core/secrets', [{ group: '', plural: 'secrets' }]],
    ]),
  );
  return { objects, parsed: [] };
}

test('an object that was moved is read where it lies now', (t) => {
  const { objects, parsed } = measured();
  objects.onEvent(podAt('old', 7, parsed));
  objects.onMoved(podAt('new', 7, parsed));
  t.true(objects.count('ns', 0));
  t.deepEqual(parsed, ['new']);
  t.true(objects.tally('ns', PODS)?.has('p'));
});

test('where a state before lies does not matter', (t) => {
  const { objects, parsed } = measured();
  objects.onMoved(podAt('unknown', 1, parsed));
  objects.onEvent(podAt('newer', 8, parsed));
  objects.onMoved(podAt('older', 7, parsed));
  objects.count('ns', 0);
  t.deepEqual(parsed, ['newer']);
});

test('only what is measured by what it is like is kept', (t) => {
  const { objects } = measured();
  t.true(objects.isAbout(PODS));
  t.false(objects.isAbout('core/secrets'));
});

test('once nobody asks, nothing is parsed again until somebody does', (t) => {
  const { objects, parsed } = measured();
  objects.onEvent(podAt('first', 1, parsed));
  objects.count('ns', 0);
  objects.release('ns');
  t.false(objects.onEvent(podAt('second', 2, parsed)));
  t.deepEqual(parsed, ['first']);
  t.is(objects.tally('ns', PODS), undefined);
  objects.count('ns', 0);
  t.deepEqual(parsed, ['first', 'second']);
});

test('what comes to a counted namespace is known to be there, and read with the next count', (t) => {
  const { objects, parsed } = measured();
  t.true(objects.count('ns', 5));
  t.is(objects.wholeAtMs('ns'), 5);
  t.true(objects.onEvent(podAt('first', 1, parsed)));
  t.is(objects.tally('ns', PODS)?.unreadCount, 1);
  t.deepEqual(parsed, []);
  t.true(objects.count('ns', 9));
  t.is(objects.tally('ns', PODS)?.unreadCount, 0);
  t.deepEqual(parsed, ['first']);
  t.is(objects.wholeAtMs('ns'), 9);
});

test('what changes before it was read is read as it is then', (t) => {
  const { objects, parsed } = measured();
  objects.count('ns', 0);
  objects.onEvent(podAt('first', 1, parsed));
  t.true(objects.onEvent(podAt('second', 2, parsed)));
  t.is(objects.tally('ns', PODS)?.unreadCount, 0);
  t.deepEqual(parsed, ['second']);
});
