// The settings of a server whose actors a test runs itself, without a listener, over a store in memory.
import type { ServerSettings } from '../../actors/server-settings.ts';
import { parseArguments } from '../../config/parse.ts';

const BUILD = { gitCommit: '', gitTreeState: '', buildDate: '', goVersion: '', platform: '' };

/** What the arguments come to, with tokens and certificates of nobody, but for what `change` says. */
export function memorySettings(
  command: 'up' | 'apiserver',
  args: readonly string[],
  change: Partial<ServerSettings> = {},
): ServerSettings {
  const parsed = parseArguments(command, [...args]);
  if (parsed.action !== 'run') throw new Error('these are arguments to run with');
  return {
    dialect: 'orch',
    options: parsed.options,
    dataDirectory: '/nowhere',
    storeEngine: 'memory',
    tls: undefined,
    caPem: '',
    tokens: [],
    advertiseAddress: '192.0.2.7',
    build: BUILD,
    startedWallMs: 0,
    schedulerName: 'none',
    ...change,
  };
}
