import test from 'ava';
import {
  linesWithoutToken,
  parsePasswordFile,
  parseTokenFile,
  tokenDigest,
} from '../../../actors/auth/authenticators/token-file.ts';
import { isOrchError } from '../../../runtime/errors.ts';

/** A line of the file: the token, and its user. */
const LINES: readonly (readonly [line: string, token: string, name: string, uid: string, groups: readonly string[]])[] =
  [
    ['t1,alice,1', 't1', 'alice', '1', []],
    ['t1,alice,', 't1', 'alice', '', []],
    ['t1,alice,1,dev', 't1', 'alice', '1', ['dev']],
    ['t1,alice,1,"dev,ops"', 't1', 'alice', '1', ['dev', 'ops']],
    ['t1,alice,1,"dev, ops ,"', 't1', 'alice', '1', ['dev', 'ops']],
    ['t1,alice,1,', 't1', 'alice', '1', []],
    ['t1,alice,1,""', 't1', 'alice', '1', []],
    ['t1,alice,1,dev,ignored', 't1', 'alice', '1', ['dev']],
    [' t1 , alice , 1 ', 't1', 'alice', '1', []],
    ['"t,1","a ""b"" c",1', 't,1', 'a "b" c', '1', []],
    ['"t1" , "alice" ,"1" , "dev"', 't1', 'alice', '1', ['dev']],
    ['tøken,ålice,1', 'tøken', 'ålice', '1', []],
    ['t1,alice,1\r', 't1', 'alice', '1', []],
  ];

for (const [line, token, name, uid, groups] of LINES) {
  test(`${JSON.stringify(line)} is user ${name} in ${groups.length} groups`, (t) => {
    t.deepEqual(parseTokenFile(`${line}\n`, 'file'), [
      { digest: tokenDigest(token), user: { name, uid, groups, extra: {} } },
    ]);
  });
}

test('empty lines and an empty file hold nobody', (t) => {
  t.deepEqual(parseTokenFile('', 'file'), []);
  t.deepEqual(parseTokenFile('\n \n\r\n', 'file'), []);
  t.deepEqual(
    parseTokenFile('a,x,1\n\nb,y,2', 'file').map(({ user }) => user.name),
    ['x', 'y'],
  );
});

test('a field in quotes may go over several lines, and what follows is told of by the line that it is on', (t) => {
  const text = 't1,alice,"1\n2","dev,\r\nops"\r\n,nobody,3\nt2,"b""o\nb",2\n';
  t.deepEqual(
    parseTokenFile(text, 'file').map(({ user: { name, uid, groups } }) => [name, uid, groups]),
    [
      ['alice', '1\n2', ['dev', 'ops']],
      ['b"o\nb', '2', []],
    ],
  );
  t.deepEqual(linesWithoutToken(text, 'file'), [4]);
  t.throws(() => parseTokenFile(`${text}SECRET`, 'file'), { message: /^file:7: / });
  t.throws(() => parseTokenFile('a,b,"c\n\nd,e,f\n', 'file'), { message: 'file:1: a double quote is out of place' });
});

test('a line without a token lets nobody in, and the others do', (t) => {
  const text = 'a,x,1\n,y,2\n\n"",,\nb,z,3\n';
  t.deepEqual(
    parseTokenFile(text, 'file').map(({ user }) => user.name),
    ['x', 'z'],
  );
  t.deepEqual(linesWithoutToken(text, 'file'), [2, 4]);
  // Everybody knows an empty password.
  t.throws(() => parsePasswordFile(',y,2\n', 'file'), {
    message: 'file:1: a line needs a token, a user name and a uid',
  });
});

test('a token is not kept', (t) => {
  t.false(JSON.stringify(parseTokenFile('very-secret,alice,1', 'file')).includes('very-secret'));
});

const BROKEN = [
  'SECRET,,1',
  'SECRET',
  'SECRET,alice',
  ',',
  '"SECRET,alice,1',
  '"SEC"RET,alice,1',
  'SEC"RET",alice,1',
  'SECRET,"alice"x,1',
];

for (const line of BROKEN) {
  test(`${JSON.stringify(line)} is refused with its line number and without its token`, (t) => {
    const error = t.throws(() => parseTokenFile(`good,alice,1\n\n${line}\n`, '/etc/tokens.csv'));
    t.true(isOrchError(error, 'BadConfiguration'));
    t.regex(error!.message, /^\/etc\/tokens\.csv:3: a /);
    t.false(error!.message.includes('SEC'));
  });
}
