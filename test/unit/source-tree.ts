// The project's own source as text, for tests about its shape: files, what they import, and their code without comments.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder, seen from dist/test/unit. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The text with comments blanked out; lines stay where they are. */
  readonly code: string;
  /** The code with the contents of strings, templates and regular expressions blanked out too. */
  readonly bare: string;
  readonly imports: readonly Import[];
}

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** The file meant, relative to the repository; undefined for packages and Node's own modules. */
  readonly path: string | undefined;
}

/** Every TypeScript file below a folder of the repository. */
export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(posix.join(folder, name.split(sep).join('/'))))
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The line of an offset in a text, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function read(path: string): SourceFile {
  const text = readText(path);
  const { code, bare } = blank(text);
  return { path, text, code, bare, imports: importsOf(path, code, bare) };
}

const IMPORT = /(?<!\.)\b(?:from\s*|import\s*\(?\s*)(['"])/g;

/** Found in the bare text, so that no string is taken for an import; read from the code. */
function importsOf(path: string, code: string, bare: string): Import[] {
  return [...bare.matchAll(IMPORT)].map((match) => {
    const from = match.index + match[0].length;
    const specifier = code.slice(from, code.indexOf(match[1]!, from));
    return { specifier, path: specifier.startsWith('.') ? posix.join(dirname(path), specifier) : undefined };
  });
}

/** What may stand before a slash that begins a regular expression. */
const BEFORE_REGEX = /(?:^|[=(,:[!&|?{};>+]|\breturn|\btypeof|\bcase)\s*$/;

/** One pass over a text that knows comments, strings, templates and regular expressions apart. */
function blank(text: string): { code: string; bare: string } {
  const code = text.split('');
  const bare = text.split('');
  const wipe = (target: string[], from: number, to: number): void => {
    for (let i = from; i < to; i++) if (text[i] !== '\n') target[i] = ' ';
  };
  /** Depth of braces inside each template that is open. */
  const templates: number[] = [];
  let i = 0;
  const template = (): void => {
    const from = i;
    while (i < text.length && text[i] !== '`' && !(text[i] === '$' && text[i + 1] === '{'))
      i += text[i] === '\\' ? 2 : 1;
    wipe(bare, from, i);
    if (text[i] === '`') i++;
    else {
      templates.push(0);
      i += 2;
    }
  };
  while (i < text.length) {
    const two = text.slice(i, i + 2);
    const one = text[i]!;
    if (two === '//' || two === '/*') {
      const end = two === '//' ? text.indexOf('\n', i) : text.indexOf('*/', i) + 2;
      const to = end < i ? text.length : end;
      wipe(code, i, to);
      wipe(bare, i, to);
      i = to;
    } else if (one === "'" || one === '"') {
      const from = ++i;
      while (i < text.length && text[i] !== one) i += text[i] === '\\' ? 2 : 1;
      wipe(bare, from, i++);
    } else if (one === '`') {
      i++;
      template();
    } else if (one === '/' && BEFORE_REGEX.test(text.slice(Math.max(0, i - 12), i))) {
      const from = ++i;
      let inClass = false;
      while (i < text.length && text[i] !== '\n' && (inClass || text[i] !== '/')) {
        if (text[i] === '[') inClass = true;
        else if (text[i] === ']') inClass = false;
        i += text[i] === '\\' ? 2 : 1;
      }
      wipe(bare, from, i++);
    } else if (templates.length > 0 && (one === '{' || one === '}')) {
      const top = templates.length - 1;
      i++;
      if (one === '{') templates[top]!++;
      else if (templates[top]! > 0) templates[top]!--;
      else {
        templates.pop();
        template();
      }
    } else {
      i++;
    }
  }
  return { code: code.join(''), bare: bare.join('') };
}
