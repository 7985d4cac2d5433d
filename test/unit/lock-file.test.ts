// Goal: `npm ci` accepts the lock file on every platform. Method: it refuses one in which a dependency of a package has no
// entry, whether or not the platform would install it; so each must have one.
import test from 'ava';
import { readText } from './source-tree.ts';

interface LockedPackage {
  readonly version: string;
  readonly os?: readonly string[];
  readonly optional?: boolean;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const { packages } = JSON.parse(readText('package-lock.json')) as LockFile;
const manifest = JSON.parse(readText('package.json')) as LockedPackage;

test('the lock file is of the dependencies that package.json names', (t) => {
  const { dependencies, devDependencies } = packages['']!;
  t.deepEqual(
    { dependencies, devDependencies },
    {
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
    },
  );
});

test('npm is told of every package whose install script runs: it warns of others, and later releases leave them out', (t) => {
  const { allowScripts } = JSON.parse(readText('package.json')) as {
    readonly allowScripts: Readonly<Record<string, boolean>>;
  };
  const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = scripted.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  t.deepEqual(Object.keys(allowScripts).toSorted(), names.toSorted());
});

test('every optional dependency has an entry; node scripts/complete-lock.js adds what a registry left out', (t) => {
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (!/^\d/.test(version)) continue;
      t.is((packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`])?.version, version, name);
    }
  }
});

test('what may lack a checksum is the binary of a platform and nothing else', (t) => {
  for (const [path, { integrity, optional, os }] of Object.entries(packages)) {
    if (path !== '' && integrity === undefined) t.true(optional === true && os !== undefined, path);
  }
});
