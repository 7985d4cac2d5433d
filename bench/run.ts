// Runs the bench from its own file, as `npm run bench` does; `orch bench` is the same command.
import { outliveReaders } from '../runtime/outlived-readers.ts';
import { bench } from './command.ts';

outliveReaders();
await bench(process.argv.slice(2));
