// Operators through what happens to a server, in short. `npm run clients -- --widgets 10000` does it with as many as asked.
import ava from 'ava';
import { testNeeding } from '../server/machine-tools.ts';
import { operators } from './operators.ts';

const test = testNeeding(ava, ['python']);
const WIDGETS = 80;

test('operators of two libraries see every widget as it is, through restarts and a change of its definition', async (t) => {
  const { actedByNode, actedByPython } = await operators(t, WIDGETS);
  t.true(actedByNode > 0 && actedByPython > 0);
});
