// What is told of a patch that makes something that is no object of its type: what was found, and where.
import test from 'ava';
import { DecodeError } from '../../../../api/codec/decode-error.ts';
import { readPatched } from '../../../../api/patch/patch-unfit.ts';
import { StatusError } from '../../../../api/status/status.ts';

const FOUND: readonly (readonly [expected: string, value: unknown, text: string])[] = [
  ['bytes', 7, 'cannot restore slice from int64'],
  ['bytes', {}, 'cannot restore slice from map'],
  ['list of string', true, 'cannot restore slice from bool'],
  ['list of string', 1.5, 'cannot restore slice from float64'],
  ['map of string', [], 'cannot restore map from slice'],
  ['v1.PodSpec', 'x', 'cannot restore struct from: string'],
  ['int32', 1.5, 'cannot convert float64 to int32'],
  ['int64', 1.5, 'cannot convert float64 to int64'],
  ['string', 7, 'cannot convert int64 to string'],
  ['string', 1.5, 'unrecognized type: string'],
  ['double', true, 'unrecognized type: float64'],
  ['Quantity', [], 'unrecognized type: Quantity'],
];

function toldOf(error: DecodeError): string | undefined {
  try {
    readPatched({ a: 1 }, () => {
      throw error;
    });
    return undefined;
  } catch (thrown) {
    return thrown instanceof StatusError ? thrown.status.message : undefined;
  }
}

const INVALID = ' "" is invalid: patch: Invalid value: "{\\"a\\":1}": ';

for (const [expected, value, text] of FOUND) {
  test(`${JSON.stringify(value)} in the place of a ${expected} is told as clients know it`, (t) => {
    const error = new DecodeError('no', { expected, value }).within('[0]').within('spec');
    t.is(toldOf(error), `${INVALID}${text} at spec[0]`);
  });
}

test('what is of the right type and of the wrong form is told as it was found', (t) => {
  t.is(toldOf(new DecodeError('no duration').within('spec')), `${INVALID}spec: no duration`);
});

test('what fits is handed on, and what goes wrong otherwise is nothing of the patch', (t) => {
  t.is(
    readPatched({}, () => 'read'),
    'read',
  );
  const bug = new TypeError('a bug');
  t.throws(
    () =>
      readPatched({}, () => {
        throw bug;
      }),
    { is: bug },
  );
});
