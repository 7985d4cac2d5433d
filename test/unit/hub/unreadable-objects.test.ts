// What of reads and watches is refused because something cannot be read, and what is not.
import test from 'ava';
import { UnreadableObjects } from '../../../actors/hub/caches/unreadable-objects.ts';
import type { UnreadableValue } from '../../../storage/following/publication.ts';

const SECRETS = 'core/secrets';

function value(name: string, since = 0, storageKey = SECRETS): UnreadableValue {
  const key = `${storageKey}/${name}`;
  return { key, path: `/registry/${key}`, why: 'no key', since, isKnown: false };
}

const all = { storageKey: SECRETS, namespace: '', labelSelector: '', fieldSelector: '' };

test('one object is refused by name, and no other', (t) => {
  const objects = new UnreadableObjects();
  t.deepEqual(objects.take([value('default/a')]), [SECRETS]);
  t.deepEqual(objects.at(SECRETS, 'default', 'a'), { refused: 'unreadable', why: 'no key' });
  t.is(objects.at(SECRETS, 'default', 'b'), undefined);
  t.is(objects.at('core/configmaps', 'default', 'a'), undefined);
});

test('a selection is refused where it would have the object in it, whatever its labels', (t) => {
  const objects = new UnreadableObjects();
  objects.take([value('default/b'), value('default/a')]);
  const why = 'unable to transform key "/registry/core/secrets/default/a": no key';
  t.deepEqual(objects.among(all), { refused: 'unreadable', why });
  t.deepEqual(objects.among({ ...all, namespace: 'default', labelSelector: 'x=y' }), { refused: 'unreadable', why });
  t.is(objects.among({ ...all, namespace: 'other' }), undefined);
  t.is(objects.among({ ...all, fieldSelector: 'metadata.name=c' }), undefined);
  t.truthy(objects.among({ ...all, fieldSelector: 'type=x,metadata.name=a' }));
  t.is(objects.among({ ...all, storageKey: 'core/configmaps' }), undefined);
});

test('the part of a list that it is not in is answered, and so is a list of before', (t) => {
  const objects = new UnreadableObjects();
  objects.take([value('default/m', 10)]);
  const part = { revision: 20, after: '', upTo: '' };
  t.truthy(objects.among(all, part));
  t.is(objects.among(all, { ...part, upTo: 'default/l' }), undefined);
  t.is(objects.among(all, { ...part, after: 'default/m' }), undefined);
  t.is(objects.among(all, { ...part, revision: 9 }), undefined);
});

test('the types are told of which there is one more', (t) => {
  const objects = new UnreadableObjects();
  t.deepEqual(objects.take([value('default/a'), value('default/a', 0, 'core/configmaps')]), [
    SECRETS,
    'core/configmaps',
  ]);
  t.deepEqual(objects.take([value('default/a'), value('default/b')]), [SECRETS]);
  t.deepEqual(objects.take([value('default/b')]), []);
  t.is(objects.at(SECRETS, 'default', 'a'), undefined);
});
