// What rehearsal.js runs. With arguments: the command `up` from the packed programs, whose threads leave behind at their end what V8
// has compiled; the main thread runs this file, the others load it as their roster. Without: a thread for each program, which
// evaluates all that it is made of and leaves that behind.
const { readdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { setFlagsFromString } = require('node:v8');
const { isMainThread, Worker, workerData } = require('node:worker_threads');

const packed = join(__dirname, '..', 'dist', 'packed');
const { setV8Flags } = require(join(packed, 'flags.js'));
const { program, script, compiled } = require(join(packed, 'program.js'));

process.on('exit', (code) => {
  if (code !== 0) return;
  // V8 refuses what was compiled under other flags than it is loaded under.
  setFlagsFromString('--flush-bytecode');
  setV8Flags();
  writeFileSync(compiled, script.createCachedData());
});

/** Evaluates what a thread of the role begins with. What is loaded by a thread's entry has effects. */
function evaluate() {
  for (const [entry, load] of Object.entries(program)) {
    if (entry === 'roster') {
      const { roster } = load();
      const actors = workerData.plan.threads[0].actors.map(({ actor }) => actor);
      roster.load(actors.length === 0 ? roster.facts.map(({ actor }) => actor) : actors);
    } else if (!['orch', 'thread'].includes(entry)) {
      load();
    }
  }
}

function evaluateInThreads() {
  const roles = readdirSync(packed)
    .filter((name) => name.endsWith('.cjs') && !['serve.cjs', 'command.cjs'].includes(name))
    .map((name) => name.slice(0, -'.cjs'.length));
  for (const role of roles) {
    const actors = role === 'any' ? [] : role.split('-').map((actor) => ({ actor }));
    const plan = role === 'job' ? undefined : { threads: [{ actors }] };
    new Worker(__filename, { workerData: { plan, thread: 0, isEvaluated: true } });
  }
  evaluate();
}

if (!isMainThread) {
  if (workerData.isEvaluated) evaluate();
  else exports.roster = program.roster().roster;
} else if (process.argv.length > 2) {
  // What has run is to be there at the end, however long ago that was.
  setFlagsFromString('--no-flush-bytecode');
  program.serve().serve('up', process.argv.slice(3), pathToFileURL(__filename).href);
} else {
  evaluateInThreads();
}
