// How `npm test` runs everything: unit tests in few processes (scripts/group-units.js), every other file in one of its own.
// Test files by themselves, as in `ava dist/test/unit/log.test.js`, run by the settings in package.json.
/** Files that take long by themselves, then folders; the unit tests, which never wait, fill what is left at the end. */
const LONGEST_FIRST = [
  'simulation/',
  'fuzz/',
  'crash/',
  'integration/threads-under-fire',
  'integration/several-servers',
  'integration/drain',
  'contract/listener',
  'clients/',
  'integration/',
  '',
];
const turnOf = (file) => {
  const index = LONGEST_FIRST.findIndex((beginning) => file.includes(`/test/${beginning}`));
  return index === -1 ? LONGEST_FIRST.length : index;
};

export default {
  files: ['dist/unit/*.test.js', 'dist/test/**/*.test.js', '!dist/test/unit/**'],
  workerThreads: false,
  // More than the cores of a small machine: a file by itself keeps six tenths of one busy, and waits for servers and timers else.
  concurrency: 4,
  // As in unit.config.js.
  nodeArguments: ['--max-semi-space-size=64', '--always-sparkplug'],
  // Without a result: what hangs is ended, and on a machine that many share a test by itself takes five minutes and more.
  timeout: '15m',
  require: ['./dist/test/server/end-of-tests.js'],
  sortTestFiles: (one, other) => turnOf(one) - turnOf(other) || one.localeCompare(other),
};
