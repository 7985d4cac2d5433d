// Loads the packed program (pack.js copies this file beside it) with what V8 compiled of it when it was built. V8 refuses that
// when it is of another version or other flags, and compiles anew: nothing but time is lost.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

const file = new URL('./program.cjs', import.meta.url);
const compiled = new URL('./program.compiled', import.meta.url);

// One byte a character: the packer writes ASCII.
const source = `(function (exports, require, module, programUrl, loader) { 'use strict';\n${readFileSync(file, 'latin1')}\n})`;
const script = new Script(source, {
  filename: file.href,
  lineOffset: -1,
  ...(existsSync(compiled) && { cachedData: readFileSync(compiled) }),
});
const module = { exports: {} };
const loader = (specifier) => import(specifier);
script.runInThisContext()(module.exports, createRequire(import.meta.url), module, import.meta.url, loader);

/** What the packer makes the program of: a function to load each of its entries. */
export const program = module.exports;

if (process.argv[2] === 'warm' && process.argv[1]?.endsWith('program.js')) {
  await program.warm();
  writeFileSync(compiled, script.createCachedData());
}
