import test from 'ava';
import { Lazy } from '../../../runtime/lazy.ts';

test('what is made when it is first asked for is made once, and again only where that failed', async (t) => {
  let made = 0;
  const lazy = new Lazy(async () => {
    if (++made === 1) throw new Error('not yet');
    return made;
  });
  t.is(await lazy.present(), undefined);
  t.is(made, 0);
  const failed = [lazy.get(), lazy.get()];
  t.is(await lazy.present(), undefined);
  for (const one of failed) await t.throwsAsync(one, { message: 'not yet' });
  const both = [lazy.get(), lazy.get()];
  t.is(await lazy.present(), 2);
  t.deepEqual(await Promise.all(both), [2, 2]);
});
