import test from 'ava';
import { ByType } from '../../../storage/by-type.ts';

test('what is known of a type is made once, whichever order its keys come in, and types that begin alike are told apart', (t) => {
  const made: string[] = [];
  const types = new ByType((storageKey) => {
    made.push(storageKey);
    return storageKey === 'apps/none' ? undefined : { storageKey };
  });
  const keys = ['core/pods/n/a', 'core/pods/n/b', 'core/podsx/n/a', 'core/pods//c', 'apps/none/n/a', 'apps/none/n/b'];
  t.deepEqual(
    keys.map((key) => types.of(key)?.storageKey),
    ['core/pods', 'core/pods', 'core/podsx', 'core/pods', undefined, undefined],
  );
  t.is(types.of('core/pods/n/a'), types.get('core/pods'));
  t.deepEqual(made, ['core/pods', 'core/podsx', 'apps/none']);
  t.is(types.size, 3);
  t.is([...types.values()].length, 3);
  t.is(types.get('core/nodes'), undefined);
});
