// Goal: a test that cannot run says so. Method: a fake `test` that notes what is declared with it.
import ava, { type TestFn } from 'ava';
import { testNeeding } from '../server/machine-tools.ts';

/** A `test` that writes down what is declared. */
function noting(): { readonly test: TestFn; readonly declared: string[] } {
  const declared: string[] = [];
  const note = (kind: string) => (title: unknown) =>
    void declared.push(`${kind} ${typeof title === 'string' ? title : ''}`.trim());
  const withSkip = (kind: string) => Object.assign(note(kind), { skip: note(`skipped ${kind}`) });
  const test = Object.assign(withSkip('test'), {
    serial: withSkip('serial'),
    before: note('before'),
    after: Object.assign(note('after'), { always: note('after') }),
  });
  return { test: test as unknown as TestFn, declared };
}

function declare(test: TestFn): void {
  test.before(() => {});
  test('one', (t) => t.pass());
  test.serial('two', (t) => t.pass());
  test.after.always(() => {});
}

ava('tests whose tools are there are declared as they are', (t) => {
  const said: string[] = [];
  const { test, declared } = noting();
  declare(
    testNeeding(
      test,
      ['kubectl', 'cc'],
      (line) => said.push(line),
      () => true,
    ),
  );
  t.deepEqual(declared, ['before', 'test one', 'serial two', 'after']);
  t.deepEqual(said, []);
});

ava('tests with a tool missing are skipped with a line that says what to install, and their hooks are not run', (t) => {
  const said: string[] = [];
  const { test, declared } = noting();
  declare(
    testNeeding(
      test,
      ['kubectl', 'strace', 'cc'],
      (line) => said.push(line),
      (name) => name === 'kubectl',
    ),
  );
  t.deepEqual(declared, ['skipped test one', 'skipped serial two']);
  t.deepEqual(said, [
    'skipping tests that need strace and a C compiler (cc) (Debian: apt-get install strace gcc libc6-dev)',
  ]);
});
