import test from 'ava';
import { BudgetObjects } from '../../../actors/scheduler/objects/budget-objects.ts';
import { readPod } from '../../../actors/scheduler/pods/pod-info.ts';
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import { pod } from './objects.ts';

const budgetOf = (selector: object, apiVersion = 'policy/v1') => ({ apiVersion, spec: { selector } });

function guarding(budgets: BudgetObjects, labels: Labels, namespace = 'default'): readonly string[] {
  const asked = readPod(pod('p', { namespace, metadata: { namespace, labels } }));
  return budgets
    .guarding(asked)
    .map(({ name }) => name)
    .sort();
}

test('a pod is guarded by the budgets whose selectors match it, by whichever kind of requirement', (t) => {
  const budgets = new BudgetObjects();
  budgets.set('default', 'web', budgetOf({ matchLabels: { app: 'web', tier: 'front' } }));
  budgets.set('default', 'front', budgetOf({ matchLabels: { tier: 'front' } }));
  budgets.set(
    'default',
    'either',
    budgetOf({ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }),
  );
  budgets.set('default', 'not-db', budgetOf({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }] }));
  budgets.set('default', 'all', budgetOf({}));
  budgets.set('default', 'none-in-beta', budgetOf({}, 'policy/v1beta1'));
  budgets.set('other', 'elsewhere', budgetOf({ matchLabels: { tier: 'front' } }));
  t.deepEqual(guarding(budgets, { app: 'web', tier: 'front' }), ['all', 'either', 'front', 'not-db', 'web']);
  t.deepEqual(guarding(budgets, { app: 'db' }), ['all', 'either']);
  t.deepEqual(guarding(budgets, {}), ['all']);
  t.deepEqual(guarding(budgets, { tier: 'front' }, 'third'), []);
});

test('a budget that is changed or gone guards what it guarded no more', (t) => {
  const budgets = new BudgetObjects();
  budgets.set('default', 'b', budgetOf({ matchLabels: { app: 'web' } }));
  budgets.set('default', 'b', budgetOf({ matchLabels: { app: 'db' } }));
  t.deepEqual(guarding(budgets, { app: 'web' }), []);
  t.deepEqual(guarding(budgets, { app: 'db' }), ['b']);
  budgets.set('default', 'b', budgetOf({}, 'policy/v1beta1'));
  t.deepEqual(guarding(budgets, { app: 'db' }), []);
  budgets.set('default', 'b', budgetOf({ matchLabels: { app: 'db' } }));
  budgets.remove('default', 'b');
  t.deepEqual(guarding(budgets, { app: 'db' }), []);
});

test('of the budgets of many services only those are looked at that a pod could be guarded by', (t) => {
  const budgets = new BudgetObjects();
  let looked = 0;
  const app = (at: number) => ({ matchLabels: { common: 'yes', service: `service-${at}` } });
  for (let at = 0; at < 1000; at++) budgets.set('default', `b${at}`, budgetOf(app(at)));
  const labels = new Proxy(
    { common: 'yes', service: 'service-7' },
    {
      get(of, key) {
        looked++;
        return Reflect.get(of, key);
      },
    },
  );
  t.deepEqual(
    budgets.guarding({ ...readPod(pod('p')), labels }).map(({ name }) => name),
    ['b7'],
  );
  t.true(looked < 20, `labels were looked at ${looked} times`);
});
