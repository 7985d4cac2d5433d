import test from 'ava';
import { Heap } from '../../../actors/scheduler/core/heap.ts';
import { seededRandom } from './objects.ts';

interface Member {
  readonly rank: number;
  heapIndex: number;
}

const member = (rank: number): Member => ({ rank, heapIndex: -1 });

test('members come out in order, whatever is pushed and removed in between', (t) => {
  const random = seededRandom(3);
  const heap = new Heap<Member>((a, b) => a.rank < b.rank);
  let members: Member[] = [];
  for (let step = 0; step < 3_000; step++) {
    const draw = random.next();
    if (draw < 0.5 || members.length === 0) {
      const added = member(random.next());
      members.push(added);
      heap.push(added);
    } else if (draw < 0.75) {
      const removed = members[Math.floor(random.next() * members.length)]!;
      members = members.filter((each) => each !== removed);
      heap.remove(removed);
      t.is(removed.heapIndex, -1);
    } else {
      const first = members.reduce((a, b) => (a.rank < b.rank ? a : b));
      members = members.filter((each) => each !== first);
      t.is(heap.peek(), first);
      t.is(heap.pop(), first);
    }
    t.is(heap.size, members.length);
  }
});

test('an empty heap has no first member', (t) => {
  const heap = new Heap<Member>((a, b) => a.rank < b.rank);
  t.is(heap.peek(), undefined);
  t.is(heap.pop(), undefined);
});
