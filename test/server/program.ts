// The program as it is shipped: packed (scripts/pack.js), which is not the modules that unit tests run.
import { fileURLToPath } from 'node:url';

export const ORCH = fileURLToPath(new URL('../../bin/orch.cjs', import.meta.url));
