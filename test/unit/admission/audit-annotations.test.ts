import test from 'ava';
import { AuditAnnotations, annotated } from '../../../actors/admission/audit-annotations.ts';

const said = (key: string, value = 'yes', level: 'Metadata' | 'Request' = 'Metadata') => ({ key, value, level });

test('a further try takes back what the one before said of the object, and no more', (t) => {
  const annotations = new AuditAnnotations();
  annotations.begin(0);
  t.true(annotations.say(said('a')));
  annotations.begin(0);
  t.true(annotations.say(said('b')));
  annotations.begin(1);
  t.deepEqual(annotations.all, [said('a')]);
  t.true(annotations.say(said('c')));
  annotations.begin(2);
  t.deepEqual(annotations.all, [said('a')]);
});

test('the first under a key keeps it', (t) => {
  const annotations = new AuditAnnotations();
  annotations.begin(0);
  t.true(annotations.say(said('a')));
  t.true(annotations.say(said('a')));
  t.false(annotations.say(said('a', 'no')));
  t.deepEqual(annotations.all, [said('a')]);
});

test('what is said of one write has a bound', (t) => {
  const annotations = new AuditAnnotations();
  annotations.begin(0);
  t.false(annotations.say(said('long', 'x'.repeat(5000))));
  t.true(annotations.say(said('patch', 'x'.repeat(5000), 'Request')));
  for (let i = 0; i < 200; i++) annotations.say(said(`k${i}`));
  t.is(annotations.all.length, 100);
});

test('a reply carries what was said under all attributes of its write, and nothing where nothing was', (t) => {
  const [first, second] = [new AuditAnnotations(), new AuditAnnotations()];
  t.deepEqual(annotated({ code: 200 }, { auditAnnotations: [first, second] }), { code: 200 });
  second.say(said('b', 'x', 'Request'));
  first.say(said('a'));
  const reply = annotated({ code: 200 }, { auditAnnotations: [first, second] });
  t.deepEqual(reply, { code: 200, auditAnnotations: [said('a'), said('b', 'x', 'Request')] });
});
