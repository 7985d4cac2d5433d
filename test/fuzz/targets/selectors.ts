// Label and field selectors, as texts and as objects.
import { compileFieldSelector } from '../../../api/selectors/field-selector.ts';
import { labelSelectorFromObject, parseLabelSelector } from '../../../api/selectors/label-selector.ts';
import type { Dice } from '../generate/dice.ts';
import { junk, ODD_NAMES, ODD_TEXTS } from '../generate/junk.ts';
import { mutatedText, repetition } from '../generate/mutate-text.ts';
import { type Input, NO_BYTES } from '../input.ts';
import { accepted, requireSame, type Target } from '../target.ts';

const KEYS: readonly string[] = [
  'a',
  'app',
  'in',
  'notin',
  'a.b/c',
  'web',
  'exists',
  'x-y_z.1',
  '__proto__',
  'toString',
];
const VALUES: readonly string[] = ['b', 'web', '', '1', '-5', 'in', 'a.b', '99999999999999999999'];
const SYMBOLS: readonly string[] = [
  '=',
  '==',
  '!=',
  '!',
  '<',
  '>',
  '(',
  ')',
  ',',
  ' in ',
  ' notin ',
  ' ',
  '\t',
  '\\,',
  '\\=',
];
const FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace', 'spec.nodeName', 'status.phase', 'spec.host'];
const LABELS = { a: 'b', app: 'web', web: '', __proto__x: '1' };

export function labelSelectorText(dice: Dice): string {
  const terms = Array.from({ length: 1 + dice.small(4) }, () => {
    const [key, value] = [dice.pick(KEYS), dice.pick(VALUES)];
    switch (dice.below(5)) {
      case 0:
        return dice.pick([key, `!${key}`]);
      case 1:
        return `${key} ${dice.pick(['in', 'notin'])} (${value},${dice.pick(VALUES)})`;
      case 2:
        return `${key}${dice.pick(['>', '<'])}${value}`;
      default:
        return `${key}${dice.pick(['=', '==', '!='])}${value}`;
    }
  });
  const text = terms.join(',');
  return dice.oneIn(3) ? mutatedText(text, dice, dice.oneIn(4) ? ODD_TEXTS : SYMBOLS) : text;
}

export function fieldSelectorText(dice: Dice): string {
  const terms = Array.from(
    { length: 1 + dice.small(4) },
    () => `${dice.pick(FIELDS)}${dice.pick(['=', '==', '!='])}${dice.pick(VALUES)}`,
  );
  const text = terms.join(',');
  return dice.oneIn(3) ? mutatedText(text, dice, dice.oneIn(4) ? ODD_TEXTS : SYMBOLS) : text;
}

function objectText(dice: Dice): string {
  const odd = dice.oneIn(4);
  return JSON.stringify({
    ...(dice.oneIn(2) ? { matchLabels: odd ? junk(dice) : { [dice.pick(KEYS)]: dice.pick(VALUES) } } : {}),
    matchExpressions: Array.from({ length: dice.small(3) }, () =>
      dice.oneIn(8)
        ? junk(dice)
        : {
            key: odd ? dice.pick(ODD_NAMES) : dice.pick(KEYS),
            operator: dice.pick(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', '__proto__']),
            values: odd ? junk(dice) : [dice.pick(VALUES)],
          },
    ),
  });
}

function generate(dice: Dice): Input {
  const isLong = dice.oneIn(2000);
  return {
    text: {
      labels: isLong ? repetition(dice, [...SYMBOLS, ...KEYS, 'a=b,'], 20_000) : labelSelectorText(dice),
      fields: isLong ? repetition(dice, [...SYMBOLS, ...FIELDS, 'metadata.name=a,'], 20_000) : fieldSelectorText(dice),
      object: objectText(dice),
    },
    body: NO_BYTES,
  };
}

function run({ text: { labels = '', fields = '', object = 'null' } }: Input): void {
  const byLabels = accepted(() => parseLabelSelector(labels));
  if (byLabels !== undefined) {
    requireSame(parseLabelSelector(byLabels.text).text, byLabels.text, 'a label selector read from its own text');
    const doesMatch = byLabels.matches(LABELS);
    requireSame(String(parseLabelSelector(byLabels.text).matches(LABELS)), String(doesMatch), 'what it matches');
    byLabels.matches(undefined);
  }
  const byFields = accepted(() => compileFieldSelector(fields, FIELDS));
  if (byFields !== undefined) {
    const again = compileFieldSelector(byFields.text, FIELDS);
    requireSame(again.text, byFields.text, 'a field selector read from its own text');
    byFields.matches(['a', 'b']);
  }
  const value: unknown = JSON.parse(object);
  accepted(() => labelSelectorFromObject(value))?.matches(LABELS);
}

export const selectors: Target = { name: 'selectors', weight: 13, generate, run };
