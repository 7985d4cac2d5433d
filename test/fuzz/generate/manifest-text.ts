// Manifests as people and tools write them: one value in the many forms that YAML has for it. Block and flow, quotes of both
// kinds, texts over lines, comments, anchors, merges. What is written here every reader of YAML 1.1 should read alike.
import type { Dice } from './dice.ts';

const NAMES: readonly string[] = [
  ...['apiVersion', 'kind', 'metadata', 'name', 'a/b', 'x.y', 'app', 'data', 'spec', 'on', 'y', '1', '0.5', 'null1'],
  ...['key with blanks', 'ключ', 'a-b', '_', 'k:v', 'a#b', "it's", 'true', '-a', '.dot', 'CamelCase', '0x1f', '1_000'],
];
/** What they mean without quotes: readers differ in which of two names that come to the same stands first. */
const MEANINGS: Readonly<Record<string, string>> = {
  ...{ true: 'true', on: 'true', y: 'true' },
  ...{ 1: '1', '0.5': '0.5', '0x1f': '31', '1_000': '1000' },
};
const TEXT_NAMES: readonly string[] = NAMES.filter((name) => MEANINGS[name] === undefined);
const PLAIN: readonly string[] = [
  ...['v1', 'Pod', 'web', '80', '0', '-1', '1.5', '1e3', 'true', 'false', 'yes', 'No', 'on', 'OFF', '~', 'null', ''],
  ...['0644', '0x1F', '0b11', '1_000', '.5', '100m', '1Gi', '2001:db8::1', '10.0.0.0/24', 'a:b', 'a#b', '-', '--'],
  ...['nginx:1.21', 'http://a/b?c=d', '"'.repeat(0), 'x y  z', '$(VAR)', '*/5', '5%', 'a, b', 'é', '😀', '-x', ':x'],
  ...['?x', 'a]b', '{{ .Values }}', 'y', 'n', 'Y', '+1', '-0', '00', '08', '1.', '9007199254740993', 'a: b'],
  ...['=', '@x', '`x', '%x', '!x', '&x', '[x', '{x', '|x', '>x', "'x", '"x', ',x', '#x', '- x', '? x', ': x', '<<'],
];
const TEXTS: readonly string[] = [
  'one line',
  'two\nlines\n',
  'no end\nof line',
  'many\nends\n\n\n',
  '  leading blanks\nthen none\n',
  'a\n  deeper\n\n  still\nback\n',
  '#!/bin/sh\nset -e\necho "x: $y"\n',
  '\nbegins empty\n',
  'tab\there\n',
  '{"json": [1, 2]}\n',
  'trailing blank \nx\n',
  'long words that go on and on until somebody breaks the line where it suits them best\n',
  'é😀\n- not a list\nkey: not a key\n',
];
const COMMENTS: readonly string[] = ['# a comment', '#', '# key: value', '#- item'];
const LEVELS_MAX = 5;

const ODD_LINES: readonly string[] = [
  '- x',
  'a: b',
  'a:',
  '-',
  'x',
  '"x"',
  '? a',
  '[',
  ']',
  '{a: b}',
  '&a x',
  '*a0',
  '|',
  '...',
];

/** The text with some lines left out, doubled, moved, pushed or joined, as it happens in editors. */
export function editedManifest(dice: Dice): string {
  const lines = manifestText(dice).split('\n');
  for (let edits = 1 + dice.small(2); edits > 0; edits--) {
    const at = dice.below(lines.length + 1);
    const line = lines[at] ?? '';
    const to = dice.below(lines.length);
    switch (dice.below(7)) {
      case 0:
        lines.splice(at, 1);
        break;
      case 1:
        lines.splice(to, 0, line);
        break;
      case 2:
        lines.splice(at, 1);
        lines.splice(to, 0, line);
        break;
      case 3:
        lines[at] = ' '.repeat(1 + dice.below(3)) + line;
        break;
      case 4:
        lines[at] = line.replace(/^ {1,2}/, '');
        break;
      case 5:
        lines.splice(at, 2, `${line} ${lines[at + 1] ?? ''}`);
        break;
      default:
        lines.splice(at, 0, ' '.repeat(dice.below(6)) + dice.pick(ODD_LINES));
    }
  }
  // Readers differ in what blanks beyond the indentation are at the end of a block of text.
  return `${lines.map((line) => (line.trim() === '' ? '' : line)).join('\n')}\n`;
}

/** A manifest's text. */
export function manifestText(dice: Dice): string {
  const writer = new ManifestWriter(dice);
  const head = dice.oneIn(4) ? '---\n' : dice.oneIn(20) ? '%YAML 1.1\n---\n' : '';
  const body = dice.oneIn(12) ? `${writer.flow(2)}\n` : writer.block(0, 0, dice.chance(0.8));
  return `${head}${body}${dice.oneIn(8) ? '...\n' : ''}`;
}

class ManifestWriter {
  readonly #dice: Dice;
  /** Anchors of whole mappings and of other values, which may be referred to from here on. */
  readonly #mappings: string[] = [];
  readonly #values: string[] = [];
  #anchors = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** A block collection of which each line stands at `indent` blanks. */
  block(indent: number, level: number, isMapping: boolean): string {
    const dice = this.#dice;
    const lines: string[] = [];
    const names = new Set<string>();
    if (isMapping && level > 0 && this.#mappings.length > 0 && dice.oneIn(6)) {
      lines.push(`${' '.repeat(indent)}<<: *${dice.pick(this.#mappings)}\n`);
    }
    for (let count = 1 + dice.small(4); count > 0; count--) {
      if (dice.oneIn(8)) lines.push(`${' '.repeat(dice.oneIn(2) ? indent : dice.below(4))}${dice.pick(COMMENTS)}\n`);
      if (dice.oneIn(12)) lines.push(dice.oneIn(3) ? `${' '.repeat(indent)}\n` : '\n');
      if (isMapping) {
        const name = dice.pick(NAMES);
        const meaning = MEANINGS[name] ?? name;
        if (names.has(meaning)) continue;
        names.add(meaning);
        const lead = `${' '.repeat(indent)}${this.#name(name)}${dice.oneIn(10) ? ' ' : ''}:`;
        lines.push(lead + this.#valueBehind(indent, level, false));
      } else lines.push(`${' '.repeat(indent)}-${this.#valueBehind(indent, level, true)}`);
    }
    return lines.length === 0 ? `${' '.repeat(indent)}a: b\n` : lines.join('');
  }

  /** A flow value. */
  flow(level: number): string {
    const dice = this.#dice;
    const gap = (): string => (dice.oneIn(12) ? `\n${' '.repeat(16)}` : dice.oneIn(3) ? '' : ' ');
    if (level > LEVELS_MAX || dice.chance(0.5)) return this.#flowScalar();
    if (dice.chance(0.5)) {
      const items = Array.from({ length: dice.small(3) }, () => this.flow(level + 1));
      return `[${gap()}${items.join(`,${gap()}`)}${items.length > 0 && dice.oneIn(8) ? ',' : ''}${gap()}]`;
    }
    const names = [...new Set(Array.from({ length: dice.small(3) }, () => dice.pick(TEXT_NAMES)))];
    const entries = names.map((name) => `${JSON.stringify(name)}: ${this.flow(level + 1)}`);
    return `{${gap()}${entries.join(`,${gap()}`)}${gap()}}`;
  }

  /** What stands behind a colon or dash, with the end of its last line. */
  #valueBehind(indent: number, level: number, isItem: boolean): string {
    const dice = this.#dice;
    const comment = (): string => (dice.oneIn(10) ? `  ${dice.pick(COMMENTS)}` : '');
    if (level < LEVELS_MAX && dice.chance(0.4)) {
      const isMapping = dice.chance(0.65);
      const anchor = dice.oneIn(8) ? this.#anchor(isMapping) : '';
      if (isItem && anchor === '' && dice.chance(0.7)) {
        const text = this.block(indent + 2, level + 1, isMapping);
        // The first line stands behind the dash, if it is no comment.
        return /^ *[^ #\n]/.test(text) ? ` ${text.slice(indent + 2)}` : `\n${text}`;
      }
      const deeper = !isMapping && !isItem && dice.chance(0.5) ? indent : indent + 1 + dice.below(4);
      return `${anchor}${comment()}\n${this.block(deeper, level + 1, isMapping)}${anchor === '' ? '' : this.#done()}`;
    }
    if (dice.oneIn(6)) return ` ${this.flow(level + 1).replaceAll('\n', `\n${' '.repeat(indent)}`)}${comment()}\n`;
    if (dice.oneIn(5)) return this.#blockText(indent, isItem);
    if (this.#values.length > 0 && dice.oneIn(10)) return ` *${dice.pick(this.#values)}${comment()}\n`;
    if (dice.oneIn(12)) {
      const anchor = this.#anchor(false);
      return `${anchor} ${this.#quoted(dice.pick(TEXTS))}\n${this.#done()}`;
    }
    const scalar = this.#blockScalar();
    return scalar === '' ? `${comment()}\n` : ` ${scalar}${comment()}\n`;
  }

  #name(name: string): string {
    const isPlain = !/^[-?:,[\]{}#&*!|>'"%@`]/.test(name) && !/: | #|:$/.test(name);
    return MEANINGS[name] !== undefined || (isPlain && this.#dice.chance(0.8)) ? name : this.#quoted(name);
  }

  #blockScalar(): string {
    const dice = this.#dice;
    const text = dice.pick(PLAIN);
    const isPlain = !/^[,[\]{}#&*!|>'"%@`]/.test(text) && !/^[-?:](?: |$)/.test(text) && !/: | #|:$/.test(text);
    return isPlain && dice.chance(0.8) ? text : this.#quoted(text);
  }

  #flowScalar(): string {
    const dice = this.#dice;
    const text = dice.pick(PLAIN);
    return /^[A-Za-z0-9.$+_/-]+$/.test(text) && !/^-+$/.test(text) && dice.chance(0.7) ? text : this.#quoted(text);
  }

  #quoted(text: string): string {
    if (!text.includes('\n') && this.#dice.chance(0.5)) return `'${text.replaceAll("'", "''")}'`;
    return JSON.stringify(text);
  }

  /** A literal or folded text. Folding changes what it says, in the same way for every reader. */
  #blockText(indent: number, isItem: boolean): string {
    const dice = this.#dice;
    const text = dice.pick(TEXTS);
    const step = 1 + dice.below(4);
    const given = text.startsWith(' ') || text.startsWith('\n') || dice.oneIn(8);
    const blanks = ' '.repeat(indent + step);
    const body = text.replace(/\n+$/, '').split('\n');
    const ends = text.length - text.replace(/\n+$/, '').length;
    const chomping = dice.pick(['', '-', '+']);
    const lines = body.map((line) => (line === '' ? '' : blanks + line));
    // Of an item the indentation is counted from the dash.
    const sign = `${dice.pick(['|', '>'])}${given && !isItem ? step : ''}${chomping}`;
    if (given && isItem) return ` ${JSON.stringify(text)}\n`;
    return ` ${sign}${dice.oneIn(8) ? ' # text' : ''}\n${lines.join('\n')}\n${'\n'.repeat(Math.max(0, ends - 1))}`;
  }

  #pending: { readonly name: string; readonly isMapping: boolean } | undefined;

  #anchor(isMapping: boolean): string {
    const name = `a${this.#anchors++}`;
    this.#pending = { name, isMapping };
    return ` &${name}`;
  }

  /** An anchor counts once its value is complete: nothing refers to what it stands in. */
  #done(): string {
    if (this.#pending !== undefined) {
      this.#values.push(this.#pending.name);
      if (this.#pending.isMapping) this.#mappings.push(this.#pending.name);
    }
    this.#pending = undefined;
    return '';
  }
}
