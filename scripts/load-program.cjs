// Loads the program of a thread, which is one of several by what the thread does (pack.js, which copies this file beside them as
// program.js). With it comes what V8 had compiled of it when it was built (rehearsal.js). On another Node than that of the build, or where V8 refuses
// it since its flags are others, it is compiled anew: nothing but time is lost.
const { closeSync, existsSync, openSync, readSync, statSync } = require('node:fs');
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

/**
 * The build of Node that this is. V8 takes what was compiled by any of its own version, and releases of Node change V8 under one version: what
 * one of them compiled calls other functions of V8 in another. Its file may be gone by now, where Node was replaced under a running server.
 */
function nodeBuild() {
  const { size } = statSync(process.execPath, { throwIfNoEntry: false }) ?? {};
  return [process.version, process.platform, process.arch, size].join('-');
}

const role = roleOfThread();
const compiled = fileOf(role, `${nodeBuild()}.compiled`);
const url = pathToFileURL(fileOf(role, 'cjs')).href;

/** The program, with what V8 had compiled of it where that is there. */
function compile() {
  const files = [fileOf(role, 'cjs'), ...(existsSync(compiled) ? [compiled] : [])];
  // One after the other in the same memory, which nobody holds when this returns: what is touched for the first time costs more than what
  // is read into it.
  const room = Buffer.allocUnsafeSlow(Math.max(...files.map((file) => statSync(file).size)));
  // One byte a character: the packer writes ASCII.
  const text = read(files[0], room).latin1Slice();
  return new Script(text, { filename: url, ...(files.length > 1 && { cachedData: read(compiled, room) }) });
}

/** The bytes of a file, which lie in `room`. */
function read(file, room) {
  const descriptor = openSync(file, 'r');
  try {
    let end = 0;
    for (let bytes = -1; bytes !== 0; end += bytes) bytes = readSync(descriptor, room, end, room.length - end, null);
    return room.subarray(0, end);
  } finally {
    closeSync(descriptor);
  }
}

const script = compile();
/** What lies beside the program needs no loader of modules, which takes a thread some milliseconds to set up. */
const isBeside = (address) => address.startsWith(new URL('.', url).href);
const importOutside = async (address) => (isBeside(address) ? require(fileURLToPath(address)) : import(address));
/** A module of Node's own, loaded with the first of its exports that is asked for; `assert` is itself a function. */
function laterOn(name) {
  let loaded;
  const module_ = () => (loaded ??= require(name));
  return new Proxy(() => {}, {
    get: (_, member) => module_()[member],
    apply: (_, receiver, given) => Reflect.apply(module_(), receiver, given),
  });
}
const packed = { exports: {} };
script.runInThisContext()(packed.exports, require, packed, url, importOutside, laterOn);

/** `program`: a function to load each of its entries. The others are for the rehearsal. */
module.exports = { program: packed.exports, script, compiled, role };
