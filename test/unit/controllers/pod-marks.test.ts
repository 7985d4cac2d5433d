// The marks of a pod are read from the fields that the registry has stored with it, in both dialects.
import test from 'ava';
import { mayBeBound, schedulerMark } from '../../../actors/pod-marks.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';

for (const dialect of Object.values(DIALECTS))
  test(`a pod's marks are those of its fields: ${dialect.name}`, (t) => {
    const { storedFields } = createRegistry(dialect).storageType('core/pods')!;
    const pod = (values: Readonly<Record<string, string>>): FeedEvent => {
      const fieldIs = (index: number, text: Buffer): boolean =>
        (values[storedFields[index]!] ?? '') === text.toString();
      return { fieldIs } as unknown as FeedEvent;
    };
    t.true(mayBeBound(pod({ 'spec.nodeName': 'n' })));
    t.false(mayBeBound(pod({ 'spec.schedulerName': 'ours' })));
    const isOurs = schedulerMark(['other', 'ours']);
    t.true(isOurs(pod({ 'spec.schedulerName': 'ours' })));
    t.false(isOurs(pod({ 'spec.schedulerName': 'theirs', 'spec.nodeName': 'ours' })));
  });

test('a pod whose record holds no fields may be bound', (t) => {
  t.true(mayBeBound({ fieldIs: () => false } as unknown as FeedEvent));
});
