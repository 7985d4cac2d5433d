// A process that starts a server as a bench does, says which, and waits to be killed.
import { Children } from '../../../bench/children.ts';

const server = new Children().spawnNode(['-e', 'setInterval(() => {}, 1_000_000)']);
process.stdout.write(`${server.pid}\n`);
