// Says why the uWebSockets.js package threw when it was loaded, so that whoever reads it knows what to do.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../runtime/errors.ts';

/**
 * Why the package in `file` threw `error`. Whatever the reason is, the first line of what it throws names the versions of Node that it has
 * binaries for, and the loader's own words stand below: the first line is right only where this Node is none of them.
 */
export function whyNotLoaded(error: unknown, file: string): string {
  const [first = '', loaders = first] = messageOf(error)
    .split('\n\n')
    .map((part) => part.split('\n', 1)[0]!.replace(/^Error: /, ''));
  const missing = /^Cannot find module '([^']+)'/.exec(loaders)?.[1];
  if (missing === undefined) return loaders;
  if (!binariesOf(file).includes(missing)) return first;
  return `${missing} is not installed: npm install brings the binary of the Node that it runs on, so run it again with this one`;
}

/** The packages of binaries that it asks npm for, each for its platform and version of Node alone. */
function binariesOf(file: string): readonly string[] {
  try {
    const described = JSON.parse(readFileSync(join(dirname(file), 'package.json'), 'utf8')) as {
      readonly optionalDependencies?: Readonly<Record<string, string>>;
    };
    return Object.keys(described.optionalDependencies ?? {});
  } catch {
    return [];
  }
}
