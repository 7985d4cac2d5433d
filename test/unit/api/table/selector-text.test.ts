// Label maps and selectors as text.
import test from 'ava';
import { labelsText, selectorText } from '../../../../api/table/selector-text.ts';

const LABELS: readonly (readonly [labels: unknown, text: string])[] = [
  [undefined, '<none>'],
  [null, '<none>'],
  [{}, '<none>'],
  [{ app: 'web' }, 'app=web'],
  [{ tier: 'front', app: 'web', empty: '' }, 'app=web,empty=,tier=front'],
];

for (const [labels, text] of LABELS) {
  test(`labels ${JSON.stringify(labels)} read ${text}`, (t) => {
    t.is(labelsText(labels), text);
  });
}

const SELECTORS: readonly (readonly [selector: unknown, text: string])[] = [
  [undefined, '<none>'],
  [null, '<none>'],
  [{}, '<none>'],
  [{ matchLabels: {}, matchExpressions: [] }, '<none>'],
  [{ matchLabels: { tier: 'front', app: 'web' } }, 'app=web,tier=front'],
  [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] }, 'app in (web)'],
  [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] }, 'app in (api,web)'],
  [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web', 'api'] }] }, 'app notin (api,web)'],
  [{ matchExpressions: [{ key: 'app', operator: 'Exists' }] }, 'app'],
  [{ matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, '!app'],
  [
    {
      matchLabels: { b: '2' },
      matchExpressions: [
        { key: 'c', operator: 'Exists' },
        { key: 'a', operator: 'Exists' },
      ],
    },
    'a,b=2,c',
  ],
  [{ matchExpressions: [{ key: 'app', operator: 'Near' }] }, '<error>'],
  [{ matchExpressions: [{ key: 'app', operator: 'Gt', values: ['1'] }] }, '<error>'],
  [{ matchExpressions: [{ key: 'app', operator: 'In', values: [] }] }, '<error>'],
  [{ matchExpressions: [{ key: 'app', operator: 'Exists', values: ['x'] }] }, '<error>'],
  [{ matchExpressions: ['app'] }, '<error>'],
  [{ matchLabels: { 'not a key': 'x' } }, '<error>'],
  ['app=web', '<error>'],
];

for (const [selector, text] of SELECTORS) {
  test(`the selector ${JSON.stringify(selector)} reads ${text}`, (t) => {
    t.is(selectorText(selector), text);
  });
}
