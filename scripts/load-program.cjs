// Loads the program of a thread, which is one of several by what the thread does (pack.js, which copies this file beside them as
// program.js). With it comes what V8 had compiled of it when it was built (rehearsal.js). V8 refuses that when it is of another version or of other
// flags, and compiles anew: nothing but time is lost.
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { Script } = require('node:vm');
const { isMainThread, workerData } = require('node:worker_threads');

const fileOf = (role, ending) => join(__dirname, `${role}.${ending}`);

/** What kind of thread this is: a server's or another command's first, one for jobs, or by the actors that it is to host. */
function roleOfThread() {
  if (isMainThread) return ['up', 'apiserver'].includes(process.argv[2]) ? 'serve' : 'command';
  if (workerData?.plan === undefined) return 'job';
  const role = workerData.plan.threads[workerData.thread].actors.map(({ actor }) => actor).join('-');
  return existsSync(fileOf(role, 'cjs')) ? role : 'any';
}

const role = roleOfThread();
const compiled = fileOf(role, 'compiled');
const url = pathToFileURL(fileOf(role, 'cjs')).href;
// One byte a character: the packer writes ASCII.
const script = new Script(readFileSync(fileOf(role, 'cjs'), 'latin1'), {
  filename: url,
  ...(existsSync(compiled) && { cachedData: readFileSync(compiled) }),
});
/** What lies beside the program needs no loader of modules, which takes a thread some milliseconds to set up. */
const isBeside = (address) => address.startsWith(new URL('.', url).href);
const importOutside = async (address) => (isBeside(address) ? require(fileURLToPath(address)) : import(address));
const packed = { exports: {} };
script.runInThisContext()(packed.exports, require, packed, url, importOutside);

/** `program`: a function to load each of its entries. The others are for the rehearsal. */
module.exports = { program: packed.exports, script, compiled, role };
