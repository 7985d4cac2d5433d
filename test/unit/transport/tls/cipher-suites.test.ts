// Cipher suites by the contract's names: each is known, and what becomes of those that the machine's TLS library lacks.
import { getCiphers } from 'node:tls';
import test from 'ava';
import { OPTIONS } from '../../../../config/options.ts';
import { chooseCiphers, isChoiceForUws } from '../../../../transport/cipher-suites.ts';

const NAMES = OPTIONS.find(({ name }) => name === 'tls-cipher-suites')?.values ?? [];
const ALL_OF_TLS13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];

test('every suite that an operator can name is offered, but for what no library offers any more', (t) => {
  t.is(NAMES.length, 27);
  const { missing } = chooseCiphers(NAMES);
  for (const name of missing) t.regex(name, /_RC4_|_3DES_/);
  const present = new Set(getCiphers());
  for (const name of NAMES.filter((one) => !missing.includes(one))) {
    const { older, tls13 } = chooseCiphers([name]);
    t.is(older.length + (NAMES.includes(tls13[0]!) && tls13.length === 1 ? 1 : 0), 1, name);
    for (const one of older) t.true(present.has(one.toLowerCase()), one);
  }
});

test('suites of TLS 1.3 are those named, and all where none is', (t) => {
  t.deepEqual(chooseCiphers(['TLS_RSA_WITH_AES_128_GCM_SHA256']).tls13, ALL_OF_TLS13);
  t.deepEqual(chooseCiphers(['TLS_AES_128_GCM_SHA256', 'TLS_RSA_WITH_AES_128_GCM_SHA256']), {
    older: ['AES128-GCM-SHA256'],
    tls13: ['TLS_AES_128_GCM_SHA256'],
    missing: [],
  });
});

test('a suite with two names is offered once', (t) => {
  const names = ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'];
  t.deepEqual(chooseCiphers(names).older, ['ECDHE-RSA-CHACHA20-POLY1305']);
});

test('the uws listener takes choices that leave TLS 1.3 whole and name older suites it knows', (t) => {
  const isForUws = (...names: string[]): boolean => isChoiceForUws(chooseCiphers(names));
  t.true(isForUws('TLS_RSA_WITH_AES_128_GCM_SHA256'));
  t.true(isForUws('TLS_RSA_WITH_AES_128_GCM_SHA256', ...ALL_OF_TLS13));
  t.false(isForUws('TLS_RSA_WITH_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'));
  t.false(isForUws('TLS_RSA_WITH_AES_128_CBC_SHA256'));
  t.false(isForUws(...ALL_OF_TLS13));
});
