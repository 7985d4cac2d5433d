// Goal: the help text shows every option once, in its program's own terms, and fits a terminal.
import test from 'ava';
import { COMMANDS } from '../../../config/commands.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { descriptionText, helpText, usageText } from '../../../config/help.ts';
import { ALL_PROGRAMS } from '../../../config/options/option.ts';
import { programOptions } from '../../../config/options.ts';

/** The lines of one option, joined. */
function entry(text: string, name: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => new RegExp(`^  (?:-., )?--${name}(?:[ ,]|$)`).test(line));
  const length = lines.slice(start + 1).findIndex((line) => !line.startsWith('    '));
  return lines
    .slice(start, start + 1 + length)
    .map((line) => line.trim())
    .join(' ')
    .replaceAll(/ +/g, ' ');
}

for (const program of ALL_PROGRAMS) {
  for (const dialect of Object.values(DIALECTS)) {
    test(`help of ${program} in the dialect ${dialect.name} names each of its options once, within 110 columns`, (t) => {
      const text = helpText(program, dialect);
      const lines = text.split('\n');
      t.deepEqual(
        lines.filter((line) => line.length > 110),
        [],
      );
      for (const { name } of programOptions(program)) {
        const shown = lines.filter((line) => new RegExp(`^  (?:-., )?--${name}(?:[ ,]|$)`).test(line));
        t.is(shown.length, 1, name);
      }
      t.notRegex(text, /@|\u00a0/);
    });
  }
}

test('help says type, default, unit, bounds, values and what does not work yet', (t) => {
  const text = helpText('apiserver');
  t.regex(entry(text, 'request-timeout'), /^--request-timeout duration .*Default 1m0s\. From 1ms to 576h0m0s\.$/);
  t.regex(entry(text, 'min-request-timeout'), /int .*Default 1800\..* seconds\.$/);
  t.regex(entry(text, 'endpoint-reconciler-type'), /One of master-count, lease, none\.$/);
  t.regex(entry(text, 'store-servers-overrides'), /\(refused: [^)]+\)$/);
  t.regex(entry(text, 'enable-admission-plugins'), /In this release only [^;]*; others are refused\./);
  t.regex(entry(text, 'v'), /^-v, --v int /);
  t.regex(entry(helpText('scheduler'), 'port'), /Deprecated: use --secure-port\./);
});

test('help shows the defaults of its program and dialect', (t) => {
  t.regex(entry(helpText('apiserver'), 'bind-address'), /Default 0\.0\.0\.0\./);
  t.regex(entry(helpText('up'), 'bind-address'), /Default 127\.0\.0\.1\./);
  const { kubernetes } = DIALECTS;
  t.true(
    entry(helpText('scheduler', kubernetes), 'lock-object-namespace').includes(
      `Default ${kubernetes.systemNamespace}.`,
    ),
  );
});

test('the usage text lists the commands that exist and no other', (t) => {
  const text = usageText();
  for (const { usage } of COMMANDS) t.true(text.includes(`orch ${usage} `), usage);
  t.is(text.match(/^ {2}orch /gm)?.length, COMMANDS.length);
});

test('a command is described by its own line, one with subcommands by theirs, whatever follows its words', (t) => {
  t.is(descriptionText(['store', 'restore', '--help']), 'Make a new data folder of a snapshot.');
  t.is(descriptionText(['check-config', 'up', '-h']), descriptionText(['check-config']));
  t.deepEqual(descriptionText(['placement', '--help']).match(/orch placement \w+/g), [
    'orch placement check',
    'orch placement compare',
  ]);
  t.is(descriptionText(['nonsense']), '');
});
