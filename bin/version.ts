// What this build calls itself.
import { existsSync, readFileSync } from 'node:fs';
import type { BuildInfo } from '../api/discovery/discovery.ts';

/** The package's own description, seen from the compiled file in dist/bin. */
const PACKAGE = new URL('../../package.json', import.meta.url);

/** What the build was made of (scripts/source-revision.js). */
const REVISION = new URL('../build.json', import.meta.url);
type SourceRevision = Pick<BuildInfo, 'gitCommit' | 'gitTreeState' | 'buildDate'>;
/** What is told where the compiler alone has run, as in tests. */
const UNKNOWN: SourceRevision = { gitCommit: '', gitTreeState: '', buildDate: '1970-01-01T00:00:00Z' };

function sourceRevision(): SourceRevision {
  return existsSync(REVISION) ? (JSON.parse(readFileSync(REVISION, 'utf8')) as SourceRevision) : UNKNOWN;
}

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
    ...sourceRevision(),
    goVersion: `node${process.versions.node}`,
    platform: `${process.platform}/${architecture}`,
  };
}
