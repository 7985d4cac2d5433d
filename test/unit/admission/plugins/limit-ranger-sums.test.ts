// What the containers of a pod come to, of very many of them with as many resources: one held against all others would take minutes.
import test from 'ava';
import {
  type Amounts,
  isPodWithin,
  type PodNeeds,
  totalOf,
} from '../../../../actors/admission/plugins/limit-ranger/bounds.ts';

const MANY = 30_000;
const NANO = 1_000_000_000n;

const resources = Array.from({ length: MANY }, (_, index) => `example.com/r${index}`);

test('the initial containers of a pod may each ask for another resource, however many there are', (t) => {
  const initial = resources.map((name): Amounts => ({ [name]: '2' }));
  const total = totalOf({ running: [{ cpu: '1', 'example.com/r1': '1', 'example.com/r2': '3' }], initial });
  t.is(Object.keys(total).length, MANY + 1);
  t.like(total, { cpu: '1', 'example.com/r0': '2', 'example.com/r1': '2', 'example.com/r2': '3' });
});

test('bounds of as many resources as a pod has initial containers are looked at once for all of these', (t) => {
  const running: Amounts = Object.fromEntries(resources.map((name) => [name, '1']));
  const needs: PodNeeds = {
    requests: { running: [running], initial: resources.map(() => ({})) },
    limits: { running: [running], initial: resources.map((name) => ({ [name]: '2' })) },
  };
  const max = (nano: bigint) => ({
    type: 'Pod',
    min: [],
    max: resources.map((resource) => ({ resource, text: '', nano })),
    ratio: [],
  });
  t.true(isPodWithin(max(2n * NANO), needs));
  t.false(isPodWithin(max(NANO), needs));
});
