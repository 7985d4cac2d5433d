import test from 'ava';
import { randomUuid } from '../../../runtime/random-uuid.ts';

test('identifiers are of version 4, and none is like another', (t) => {
  const seen = new Set(Array.from({ length: 2000 }, () => randomUuid()));
  t.is(seen.size, 2000);
  for (const id of seen) t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const digits = [...seen].map((id) => id.replace(/-/g, ''));
  for (let place = 0; place < 32; place++) {
    if (place === 12) continue;
    t.is(new Set(digits.map((id) => id[place])).size, place === 16 ? 4 : 16, `every digit occurs at ${place}`);
  }
});
