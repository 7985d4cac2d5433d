// The project's own source as text, for tests about its shape: files, what they import, and their code without comments.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Shared with the lint, which runs before anything is compiled. */
const { blank } = (await import(new URL('../../../scripts/source-text.js', import.meta.url).href)) as {
  readonly blank: (text: string) => { readonly code: string; readonly bare: string };
};

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
