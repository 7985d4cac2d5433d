// How `npm run unit` runs the unit tests: grouped by scripts/group-units.js, one after another within a group.
export default {
  files: ['dist/unit/*.test.js'],
  workerThreads: false,
  concurrency: 2,
  timeout: '5m',
};
