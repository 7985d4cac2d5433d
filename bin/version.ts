// What this build calls itself.
import { readFileSync } from 'node:fs';
import type { BuildInfo } from '../api/discovery/discovery.ts';

/** The package's own description, seen from the compiled file in dist/bin. */
const PACKAGE = new URL('../../package.json', import.meta.url);

function packageVersion(): string {
  return (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version;
}

export function versionText(): string {
  return `orch ${packageVersion()} (node ${process.versions.node})`;
}

const PLATFORM_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** What `/version` tells (SPEC.md "Other addresses"). */
export function buildInfo(): BuildInfo {
  const architecture = PLATFORM_ARCHITECTURES[process.arch] ?? process.arch;
  return {
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node${process.versions.node}`,
    platform: `${process.platform}/${architecture}`,
  };
}
