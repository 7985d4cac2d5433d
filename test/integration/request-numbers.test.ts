// The numbers by which log lines of one request are told from those of others.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { createConfigMap, eventually, freshNamespace } from './objects.ts';

test('the line of each request says its number, whichever thread writes it', async (t) => {
  const server = await startServer(t, { args: ['-v', '4'], placement: 'default' });
  const { client } = server;
  const namespace = await freshNamespace(client);
  const names = ['one', 'two', 'three'];
  for (const name of names) await createConfigMap(client, namespace, { name });
  for (const name of names) await client.get(`${namespace.configMaps}/${name}`);
  const isOfOurs = (line: string): boolean => line.includes(namespace.configMaps) && !line.includes('root-ca');
  const lines = (): string[] =>
    // What is behind the last end of a line is not whole.
    server.stderr
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.includes('] "HTTP" ') && isOfOurs(line));
  await eventually(
    () => Promise.resolve(lines().length),
    (count) => count >= 6,
  );
  const numbers = lines().map((line) => / requestNumber=([1-9]\d*)(?: |$)/.exec(line)?.[1]);
  t.false(numbers.includes(undefined));
  t.is(new Set(numbers).size, 6);
});
