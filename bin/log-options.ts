// How much is logged, and in which form, by the options.
import type { ServerOptions } from '../config/options.ts';
import type { LogOptions } from '../runtime/log.ts';

const VERBOSITY_LEVELS = ['info', 'info', 'info', 'info', 'debug', 'debug'] as const;

export function logOptions({ v, loggingFormat }: Pick<ServerOptions, 'v' | 'loggingFormat'>): LogOptions {
  return { level: VERBOSITY_LEVELS[v] ?? 'trace', format: loggingFormat === 'json' ? 'json' : 'text' };
}
