// What is said of a proxy that the environment names.
import test from 'ava';
import { idleProxy } from '../../../bin/proxy-environment.ts';

test('a proxy of the environment is told to be of no use, without what stands in it', (t) => {
  t.is(
    idleProxy({ HTTPS_PROXY: 'http://ann:secret@proxy:3128' }, 'connections go straight'),
    'HTTPS_PROXY in the environment: not in force, connections go straight',
  );
  t.regex(idleProxy({ HTTP_PROXY: '', http_proxy: 'p:1' }, 'x') ?? '', /^http_proxy in /);
});

test('where there is none nothing is said', (t) => {
  t.is(idleProxy({}, 'x'), undefined);
  t.is(idleProxy({ HTTPS_PROXY: '', NO_PROXY: '10.0.0.0/8' }, 'x'), undefined);
});

test('one that is for nothing is not told', (t) => {
  t.is(idleProxy({ HTTPS_PROXY: 'http://proxy', no_proxy: '*' }, 'x'), undefined);
  t.not(idleProxy({ HTTPS_PROXY: 'http://proxy', NO_PROXY: 'localhost' }, 'x'), undefined);
});
