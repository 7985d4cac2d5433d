// How `npm run unit` runs the unit tests: grouped by scripts/group-units.js, one after another within a group.

/** Rooms whose tests take the most time for their size: a group that begins last decides when all is over. */
const LONGEST_FIRST = ['-store', '-controllers', '-bin-config', '-rendering'];
const turnOf = (file) => {
  const index = LONGEST_FIRST.findIndex((room) => file.includes(room));
  return index === -1 ? LONGEST_FIRST.length : index;
};

export default {
  files: ['dist/unit/*.test.js'],
  workerThreads: false,
  // More than the cores of a small machine: some tests wait for processes and threads that they start.
  concurrency: 3,
  // Tests that wait overlap, and keep their worlds meanwhile: a small young generation would be copied again and again. Most of what
  // they run is run a few times: interpreting it first costs more than compiling it simply.
  nodeArguments: ['--max-semi-space-size=64', '--always-sparkplug'],
  // As in test.config.js; a test that draws many more cases than usual says nothing for longer.
  timeout: process.env.ORCH_EFFORT === undefined ? '15m' : '30m',
  require: ['./dist/test/server/end-of-tests.js'],
  sortTestFiles: (one, other) => turnOf(one) - turnOf(other) || one.localeCompare(other),
};
