// Goal: CPU time and memory are read from the right fields, whatever a process is called. Method: /proc texts, and this
// very process.
import test from 'ava';
import {
  finerSeconds,
  machineBusySeconds,
  parseMachineBusy,
  parseSchedstat,
  parseUsage,
  processUsage,
} from '../../../bench/process-usage.ts';

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

test('what the threads say is finer than ticks', (t) => {
  t.is(parseSchedstat('768229 244943 2\n'), 768_229);
  t.is(finerSeconds(1.23, 1.234567), 1.234567);
});

test('ticks count where the threads do not tell, and where one of them has ended', (t) => {
  t.is(finerSeconds(1.23, undefined), 1.23);
  t.is(finerSeconds(1.23, 0.9), 1.23);
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
