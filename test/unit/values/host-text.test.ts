// What an address says to who listens.
import test from 'ava';
import { hostPort, isEveryAddress } from '../../../values/host-text.ts';

test('blank and unspecified addresses, however they are written, are every address', (t) => {
  for (const host of ['', '0.0.0.0', '::', '::0', '0:0:0:0:0:0:0:0']) t.true(isEveryAddress(host), host);
  for (const host of ['127.0.0.1', '::1', '0.0.0.1', 'localhost', 'example.com']) t.false(isEveryAddress(host), host);
});

test('beside a port an IPv6 address stands in brackets', (t) => {
  t.is(hostPort('::1', 80), '[::1]:80');
  t.is(hostPort('127.0.0.1', 80), '127.0.0.1:80');
});
