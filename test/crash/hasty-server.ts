// A server that acknowledges before it has synced, run like orch itself.
import { serve } from '../../bin/serve.ts';

await serve('up', process.argv.slice(3), new URL('./hasty-roster.js', import.meta.url).href);
