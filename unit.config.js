// How `npm run unit` runs the unit tests: grouped by scripts/group-units.js, one after another within a group.
export default {
  files: ['dist/unit/*.test.js'],
  workerThreads: false,
  concurrency: 2,
  // The tests of a group begin at once and keep their worlds until they end, so a small young generation is copied again and again.
  nodeArguments: ['--max-semi-space-size=64'],
  // A test that draws many more cases than usual says nothing for longer.
  timeout: process.env.ORCH_EFFORT === undefined ? '5m' : '30m',
  require: ['./dist/test/server/end-of-tests.js'],
};
