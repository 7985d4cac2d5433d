// Goal: whatever goes wrong with deliveries is counted as what it is. Method: two writers whose writes alternate, seen in
// made-up orders.
import test from 'ava';
import { type DeliveryFaults, DeliveryOrder, WriteNumbers } from '../../../bench/delivery-order.ts';

const NONE: DeliveryFaults = { lost: 0, duplicated: 0, outOfOrder: 0 };

const cases: readonly (readonly [name: string, seen: readonly number[], faults: DeliveryFaults])[] = [
  ['each in its turn', [0, 1, 2, 3, 4, 5], NONE],
  ['two objects in any order between them', [1, 0, 3, 5, 2, 4], NONE],
  ['one in the middle missing', [0, 1, 3, 4, 5], { ...NONE, lost: 1 }],
  ['the last missing', [0, 1, 2, 3, 4], { ...NONE, lost: 1 }],
  ['nothing at all', [], { ...NONE, lost: 6 }],
  ['one twice', [0, 0, 1, 2, 3, 4, 5], { ...NONE, duplicated: 1 }],
  ['a later one first', [0, 1, 4, 2, 3, 5], { ...NONE, outOfOrder: 1 }],
];

for (const [name, seen, faults] of cases) {
  test(`counts ${name}`, (t) => {
    const numbers = new WriteNumbers(10, 2);
    for (let sequence = 0; sequence < 6; sequence += 1) numbers.assign(sequence, sequence % 2);
    const order = new DeliveryOrder(numbers);
    for (const sequence of seen) order.see(sequence);
    t.deepEqual(order.faults(), faults);
  });
}
