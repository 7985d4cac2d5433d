// Runs the bench from its own file, as `npm run bench` does; `orch bench` is the same command.
import { bench } from './command.ts';

await bench(process.argv.slice(2));
