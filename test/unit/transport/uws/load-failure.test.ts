// What is said where the binary of uWebSockets.js cannot be loaded. Method: the texts that the package throws, beside packages that ask for
// some binaries.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { whyNotLoaded } from '../../../../transport/uws/load-failure.ts';

const VERSIONS = 'This version of uWS.js (v20.67.0) supports only Node.js versions 22, 24 and 26 on (glibc) Linux.';
const OLD_LIBRARY = "/lib/libc.so.6: version `GLIBC_2.38' not found (required by /m/@uwsjs/linux-x64-24/uws.node)";

const CASES: Readonly<Record<string, readonly [thrown: string, said: RegExp]>> = {
  'a binary that npm left out, since it ran on another Node, is to be installed with this one': [
    `${VERSIONS}\n\nError: Cannot find module '@uwsjs/linux-x64-24'\nRequire stack:\n- /m/uws.js`,
    /^@uwsjs\/linux-x64-24 is not installed: .*run it again with this one$/,
  ],
  'a library of the system that is too old is named, not the versions of Node that would do': [
    `${VERSIONS}\n\nError: ${OLD_LIBRARY}`,
    /^\/lib\/libc\.so\.6: version `GLIBC_2\.38' not found/,
  ],
  'a Node that there is no binary for hears which there are some for': [
    `${VERSIONS}\n\nError: Cannot find module '@uwsjs/linux-x64-25'\nRequire stack:\n- /m/uws.js`,
    /^This version of uWS\.js .* 22, 24 and 26/,
  ],
  'a package that is not there at all is what the loader says': [
    "Cannot find module 'uWebSockets.js'\nRequire stack:\n- /m/any.cjs",
    /^Cannot find module 'uWebSockets\.js'$/,
  ],
};

for (const [title, [thrown, said]] of Object.entries(CASES)) {
  test(title, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'uws-package-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ optionalDependencies: { '@uwsjs/linux-x64-22': '20.69.0', '@uwsjs/linux-x64-24': '20.69.0' } }),
    );
    t.regex(whyNotLoaded(new Error(thrown), join(folder, 'uws.js')), said);
  });
}
