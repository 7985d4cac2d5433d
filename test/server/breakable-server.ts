// A server of breakable actors, run like orch itself.
import { serve } from '../../bin/serve.ts';

const [program, ...argv] = process.argv.slice(2);
await serve(program === 'apiserver' ? 'apiserver' : 'up', argv, new URL('./breakable-roster.js', import.meta.url).href);
