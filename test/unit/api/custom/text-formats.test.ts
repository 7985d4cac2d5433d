// Every format of texts, with what is one and what is not.
import test from 'ava';
import { formatTest } from '../../../../api/custom/checks/text-formats.ts';

interface Row {
  readonly format: string;
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    format: 'bsonobjectid',
    good: ['507f1f77bcf86cd799439011'],
    bad: ['507f1f77bcf86cd79943901', 'g07f1f77bcf86cd799439011', ''],
  },
  { format: 'byte', good: ['aGk=', 'aGVsbG8h', 'YQ=='], bad: ['', 'a', 'aGk', 'a===', '!GVs'] },
  {
    format: 'cidr',
    good: ['10.0.0.0/8', 'fd00::/8', '1.2.3.4/32'],
    bad: ['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'x/8', '1.2.3.4/-1'],
  },
  {
    format: 'creditcard',
    good: ['4111111111111111', '4111-1111-1111-1111', '378282246310005'],
    bad: ['4111111111111112', '1234', ''],
  },
  {
    format: 'date',
    good: ['2021-02-28', '2020-02-29', '1999-12-31'],
    bad: ['2021-02-29', '2021-02-30', '2021-13-01', '2021-04-31', '21-01-01', ''],
  },
  {
    format: 'date-time',
    good: ['2021-02-28T23:59:59Z', '2021-02-28t00:00:00.123z', '2021-02-28T01:02:03+01:00'],
    bad: [
      '2021-02-30T00:00:00Z',
      '2021-02-28',
      '2021-02-28T24:00:00Z',
      '2021-02-28T00:00:60Z',
      '2021-02-28T00:00:00',
      '2021-02-28T00:00:00+0100',
    ],
  },
  { format: 'datetime', good: ['2021-02-28T23:59:59Z'], bad: ['2021-02-28 23:59:59Z'] },
  {
    format: 'duration',
    good: ['1h30m', '-1.5h', '1.h.5m', '300ms', '2 days', '1 week', '3 hr', 'in 12  days', '0'],
    bad: ['', 'soon', '5', '7 moons'],
  },
  {
    format: 'email',
    good: ['a@example.com', 'a.b+c@example.org', 'Ann B <a@example.com>', 'a@b-c', 'ü@b', '"a @ b"@c', "o'x_1@b"],
    bad: [
      ...['a', '@example.com', 'a@', 'a b@example.com', 'Ann <a>', 'a@b.c@example.com', 'Ann <a@b@c>'],
      ...['a..b@example.com', '.a@example.com', 'a.@example.com', 'a,b@example.com', 'a"b@c', '"a"b@c', 'a[1]@b'],
    ],
  },
  { format: 'hexcolor', good: ['#fff', 'FFFFFF', '#01aBcD'], bad: ['#ff', '#ggg', '#ffff', ''] },
  {
    format: 'hostname',
    good: ['a', 'a-b', 'a.example.com', 'x-1.yz', 'ü.de'],
    bad: ['', '-a', 'a..b', 'a_b', `${'a'.repeat(64)}.com`, 'ab-c', 'a.b', '1.2.3.4', 'a.com.'],
  },
  { format: 'ipv4', good: ['1.2.3.4', '255.255.255.255'], bad: ['1.2.3', '256.1.1.1', '::1', ''] },
  { format: 'ipv6', good: ['::1', 'fd00::1:2'], bad: ['1.2.3.4', ':::1', 'g::1'] },
  { format: 'isbn', good: ['3836221195', '978-3-8362-2119-1'], bad: ['3836221194', '9783836221190', ''] },
  {
    format: 'isbn10',
    good: ['3836221195', '1-61729-085-8', '3-401-01319-X'],
    bad: ['3423214121', '978-3-8362-2119-1', 'X836221195'],
  },
  {
    format: 'isbn13',
    good: ['978-3-8362-2119-1', '978 3 401 01319 0'],
    bad: ['3-8362-2119-5', '978-3-8362-2119-0', ''],
  },
  {
    format: 'mac',
    good: ['01:23:45:67:89:ab', '01-23-45-67-89-ab', '0123.4567.89ab', '02:00:5e:10:00:00:00:01'],
    bad: ['01:23:45:67:89', '01:23-45:67:89:ab', '0123456789ab', '01:23:45:67:89:ag'],
  },
  { format: 'password', good: ['', 'anything'], bad: [] },
  {
    format: 'rgbcolor',
    good: ['rgb(0,0,0)', 'rgb( 255, 12 ,7 )'],
    bad: ['rgb(256,0,0)', 'rgb(0,0)', '0,0,0', 'rgb(-1,0,0)'],
  },
  { format: 'ssn', good: ['123-45-6789', '123 45 6789'], bad: ['123456789', '12-345-6789', ''] },
  {
    format: 'uri',
    good: ['http://example.com', 'https://a:b@c:1/d?e#f', '/a/b', 'mailto:a@b', 'urn:x', 'http://[::1]:80/'],
    bad: ['', 'a/b', 'example.com', 'http://a b/', 'http://a/%zz', '://x', 'http://a:b/', 'http://a/\u0000'],
  },
  {
    format: 'uuid',
    good: ['a8098c1a-f86e-11da-bd1a-00112444be1e', 'A8098C1AF86E11DABD1A00112444BE1E'],
    bad: ['a8098c1a-f86e-11da-bd1a', 'g8098c1a-f86e-11da-bd1a-00112444be1e', ''],
  },
  {
    format: 'uuid3',
    good: ['6fa459ea-ee8a-3ca4-894e-db77e160355e'],
    bad: ['16fd2706-8baf-433b-82eb-8c7fada847da', ''],
  },
  {
    format: 'uuid4',
    good: ['16fd2706-8baf-433b-82eb-8c7fada847da'],
    bad: ['6fa459ea-ee8a-3ca4-894e-db77e160355e', '16fd2706-8baf-433b-c2eb-8c7fada847da'],
  },
  {
    format: 'uuid5',
    good: ['886313e1-3b8a-5372-9b90-0c9aee199e5d'],
    bad: ['16fd2706-8baf-433b-82eb-8c7fada847da', '886313e1-3b8a-5372-7b90-0c9aee199e5d'],
  },
];

for (const { format, good, bad } of ROWS) {
  const isOne = formatTest(format)!;
  for (const text of good) test(`${JSON.stringify(text)} is a text of format ${format}`, (t) => t.true(isOne(text)));
  for (const text of bad) test(`${JSON.stringify(text)} is no text of format ${format}`, (t) => t.false(isOne(text)));
}

test('a long text is looked at in time in proportion to it, whatever it is made of', (t) => {
  const text = '7'.repeat(1_000_000);
  for (const [format, one] of [
    ['duration', `${text} `],
    ['duration', `${text}.${text}`],
    ['duration', '7 '.repeat(500_000)],
  ] as const) {
    t.false(formatTest(format)!(one), format);
  }
});

test('formats that nobody has named, and those of numbers, are not looked at', (t) => {
  for (const format of ['int32', 'int64', 'float', 'double', 'quantity', '']) t.is(formatTest(format), undefined);
});
