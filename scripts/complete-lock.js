// Adds to package-lock.json what `npm install` leaves out when its registry does not carry the binaries of every platform:
// an entry for each optional dependency that has none. `npm ci` refuses a lock file without them, wherever it runs. Platform
// and Node version are in such a package's name; a checksum can only come from a registry that has it, so there is none.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json');
const NAME =
  /[/-](?<os>aix|android|darwin|freebsd|linux|netbsd|openbsd|sunos|win32)-(?<cpu>[a-z0-9]+)(?:-(?<rest>[a-z0-9]+))?$/;

/** The entry of a binary's package, as the registry would have made it. Throws for a name that says no platform. */
function entryOf(name, version, isDev) {
  const { os, cpu, rest } = NAME.exec(name)?.groups ?? {};
  if (os === undefined)
    throw new Error(`${name} is optional and says no platform: install it where the registry has it`);
  const major = /^\d+$/.test(rest ?? '') ? Number(rest) : undefined;
  return {
    version,
    cpu: [cpu],
    ...(isDev ? { dev: true } : {}),
    ...(rest === 'musl' ? { libc: ['musl'] } : {}),
    optional: true,
    os: [os],
    ...(major === undefined ? {} : { engines: { node: `>=${major}.0.0 <${major + 1}.0.0` } }),
  };
}

/** The lock file with every optional dependency in it, entries in the order npm writes them. */
function completed(lock) {
  const packages = { ...lock.packages };
  for (const [place, { optionalDependencies = {}, dev = false }] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      // A range is of something that npm could choose a version of.
      if (!/^\d/.test(version)) continue;
      const shared = `node_modules/${name}`;
      packages[shared] ??= entryOf(name, version, dev);
      // Where others have another version, this one lies below who asks for it.
      if (packages[shared].version !== version) packages[`${place}/${shared}`] ??= entryOf(name, version, dev);
    }
  }
  const sorted = Object.entries(packages).sort(([left], [right]) => left.localeCompare(right, 'en'));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

const lock = JSON.parse(readFileSync(path, 'utf8'));
writeFileSync(path, `${JSON.stringify(completed(lock), null, 2)}\n`);
