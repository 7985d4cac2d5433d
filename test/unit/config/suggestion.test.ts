// What is suggested for a mistyped name.
import test from 'ava';
import { nearestName } from '../../../config/suggestion.ts';

test('a mistyped name suggests the nearest one, and a name like nothing suggests none', (t) => {
  const names = ['secure-port', 'bind-address', 'v'];
  t.is(nearestName('secureport', names), 'secure-port');
  t.is(nearestName('bind-adress', names), 'bind-address');
  t.is(nearestName('x', names), undefined);
  t.is(nearestName('something-else', names), undefined);
  t.is(nearestName('secure-port'.repeat(100), names), undefined);
});
