// Which webhooks are asked a second time: those that want it, and have not seen what others have made of the object since.
import test from 'ava';
import type { Hook } from '../../../actors/admission/hooks/hook.ts';
import { Rounds } from '../../../actors/admission/plugins/mutating-admission-webhook/rounds.ts';

const hook = (id: string, isReinvoked = true): Hook => ({ id, isReinvoked }) as Hook;
const [A, B, C] = [hook('a'), hook('b'), hook('c')];

/** Those that are asked again when the hooks have been asked in turn, some of which have changed the object. */
function again(hooks: readonly Hook[], changers: readonly Hook[], isChangedSince = false): string[] {
  const rounds = new Rounds();
  for (const one of hooks) {
    if (changers.includes(one)) rounds.changed();
    rounds.asked(one);
  }
  rounds.ended({ a: 1 });
  rounds.beginSecond(isChangedSince ? { a: 2 } : { a: 1 });
  return hooks.filter((one) => rounds.asksAgain(one)).map(({ id }) => id);
}

test('who was asked before another has changed the object is asked again, who changed it last is not', (t) => {
  t.deepEqual(again([A, B, C], []), []);
  t.deepEqual(again([A, B, C], [A]), []);
  t.deepEqual(again([A, B, C], [B]), ['a']);
  t.deepEqual(again([A, B, C], [C]), ['a', 'b']);
  t.deepEqual(again([A, B, C], [A, B]), ['a']);
});

test('what a plugin has changed since is news to all of them', (t) => {
  t.deepEqual(again([A, B, C], [B], true), ['a', 'b', 'c']);
});

test('who does not want to be asked again never is', (t) => {
  const never = hook('never', false);
  t.deepEqual(again([never, A, B], [B], true), ['a', 'b']);
});
