// How etcd is reached by what --store-servers says.
import test from 'ava';
import { etcdAccess } from '../../../bin/server/store-access.ts';
import type { ServerOptions } from '../../../config/options.ts';

const accessOf = (...storeServers: readonly string[]) =>
  etcdAccess({ storeServers, storeCafile: '', storeCertfile: '', storeKeyfile: '' } as unknown as ServerOptions);

test('the name and the password of the first address hold for all, and are in no address', (t) => {
  t.deepEqual(accessOf('https://orch:a%40b%25@10.0.0.1:2379', 'https://10.0.0.2:2379'), {
    servers: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379'],
    name: 'orch',
    password: 'a@b%',
  });
});

test('a password with a % that stands for itself is refused with a line that says how to write it', (t) => {
  t.throws(() => accessOf('https://orch:50%off@10.0.0.1:2379'), {
    message: '--store-servers: a % in a name or a password is written %25',
  });
});

test('an address is one of http or https, and which it is not is not repeated, for its password', (t) => {
  for (const address of ['10.0.0.1:2379', 'ftp://10.0.0.1', 'unix:///run/etcd', 'https://', 'https://u:secret@'])
    t.throws(() => accessOf('https://10.0.0.1:2379', address), {
      message: '--store-servers: an address is none of http or https',
    });
  t.deepEqual(accessOf('http://10.0.0.1:2379/', 'HTTPS://a.example:2379'), {
    servers: ['http://10.0.0.1:2379', 'https://a.example:2379'],
  });
});
