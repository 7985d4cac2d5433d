// Goal: CPU time and memory are read from the right fields, whatever a process is called. Method: /proc texts, and this
// very process.
import test from 'ava';
import { machineBusySeconds, parseMachineBusy, parseUsage, processUsage } from '../../../bench/process-usage.ts';

const names = ['node', 'a b', 'odd) S 9 (name', '()'];

for (const name of names) {
  test(`reads the usage of a process called "${name}"`, (t) => {
    const stat = `4242 (${name}) S 1 2 3 4 5 6 7 8 9 10 150 50 99 98 20 0 11 0 12345 1000000 5000 1 2 3\n`;
    const status = `Name:\t${name}\nVmHWM:\t  90000 kB\nVmRSS:\t   65536 kB\nThreads:\t11\n`;
    t.deepEqual(parseUsage(stat, status), { cpuSeconds: 2, rssBytes: 64 * 1024 * 1024 });
  });
}

test('a process that is not there has no usage', (t) => {
  t.is(processUsage(2 ** 30), undefined);
});

const STAT = '42 (node) S 1 2 3 4 5 6 7 8 9 10 100 23 99 98 20 0 2 0 12345 1000000 5000 1 2 3\n';
const ofThreads = (...schedstats: string[]) => parseUsage(STAT, '', schedstats).cpuSeconds;

test('what the threads say is finer than ticks', (t) => {
  t.is(ofThreads('1000000000 244943 2\n', '234567000 1 1\n'), 1.234567);
});

test('ticks count where the threads do not tell, and where one of them has ended', (t) => {
  t.is(ofThreads(), 1.23);
  t.is(ofThreads('1000000000 244943 2\n'), 1.23);
});

test('the machine is busy with all but idling and waiting for disks', (t) => {
  t.is(parseMachineBusy('cpu  100 20 30 9999 8888 40 5 5 77 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n'), 2);
  t.is(parseMachineBusy('cpu  100 0 100 9999\n'), 2);
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('a living process has memory', (t) => {
  t.true(processUsage(process.pid)!.rssBytes > 1024 * 1024);
  t.true(machineBusySeconds()! > 0);
});
