// How `npm run unit` runs the unit tests: grouped by scripts/group-units.js, one after another within a group.
export default {
  files: ['dist/unit/*.test.js'],
  workerThreads: false,
  concurrency: 2,
  // A test that draws many more cases than usual says nothing for longer.
  timeout: process.env.ORCH_EFFORT === undefined ? '5m' : '30m',
  require: ['./dist/test/server/end-of-tests.js'],
};
