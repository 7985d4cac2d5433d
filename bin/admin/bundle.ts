// `orch bundle FILE`: what a stranger needs to see of a running server to help with it, in one archive: metrics, health, profiles,
// what every thread waits for, the command, the end of the log. No object is in it, and what looks like a credential is cut out.
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { keepFile } from '../../storage/files/kept-file.ts';
import { print } from '../command-line/print-lines.ts';
import { takeFlag } from '../command-line/taken-flag.ts';
import { versionText } from '../version.ts';
import { adminConnection } from './admin-connection.ts';
import { AdminPages, dataDirOf } from './admin-pages.ts';
import { type ArchivedFile, tarArchive } from './tar-archive.ts';

const USAGE = 'usage: orch bundle FILE [--data-dir DIR] [--log-file PATH]';
const FOLDER = 'orch-bundle/';
const LOG_BYTES_MAX = 4 * 1024 * 1024;
const compressed = promisify(gzip);

/** By the name that each has in the archive; those of text may be cut. */
const TEXT_PAGES: Readonly<Record<string, string>> = {
  'metrics.txt': '/metrics',
  'livez.txt': '/livez?verbose',
  'readyz.txt': '/readyz?verbose',
  'version.json': '/version',
  'command.txt': '/debug/pprof/cmdline',
  'threads.txt': '/debug/pprof/goroutine?debug=2',
  'heap.txt': '/debug/pprof/heap?debug=1',
  'levels.txt': '/debug/api_priority_and_fairness/dump_priority_levels',
  'queues.txt': '/debug/api_priority_and_fairness/dump_queues',
};
/** One after the other: a thread is profiled by one at a time. */
const PROFILES: Readonly<Record<string, string>> = {
  'profile.pb.gz': '/debug/pprof/profile?seconds=2',
  'heap.pb.gz': '/debug/pprof/heap',
  'contention.pb.gz': '/debug/pprof/mutex',
};

/** What stands for a credential, wherever it may have got into a text. */
const CUT = '[cut out]';
const CREDENTIALS: readonly RegExp[] = [
  /\b(?:Bearer|Basic) +[\w.~+/=-]+/gi,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\b(?:password|passwd|token|secret|client_secret|access_token)["']?\s*[=:]\s*["']?)[^\s"'&,;]+/gi,
  // A name and a password in an address, as --store-servers has them: up to the last @ before the path, and a quote is a character like
  // another in it, unless a text of JSON ends there.
  /(?<=\b[a-z][a-z\d+.-]*:\/\/)(?:[^\s/"]|"(?!,))+(?=@)/gi,
];

/** Throws OrchError where the server does not answer at all. */
export async function bundle(argv: readonly string[]): Promise<void> {
  const { value: logFile, rest } = takeFlag(argv, '--log-file', USAGE);
  const parsed = dataDirOf(rest, USAGE);
  const [file, ...others] = parsed.rest;
  if (file === undefined || file.startsWith('-') || others.length > 0) throw new UsageError(USAGE);
  const directory = resolve(parsed.directory);
  const count = await keepFile(file, async (descriptor) => {
    const files = await collected(directory, logFile);
    writeFileSync(descriptor, await compressed(tarArchive(files, Date.now() / 1000)));
    return files.length;
  });
  print([`${count} files in ${file}`]);
}

async function collected(directory: string, logFile: string | undefined): Promise<readonly ArchivedFile[]> {
  const { token } = adminConnection(directory);
  const cut = (text: string): string =>
    CREDENTIALS.reduce((clean, pattern) => clean.replace(pattern, CUT), text.replaceAll(token, CUT));
  const pages = new AdminPages(directory);
  const files: ArchivedFile[] = [];
  const add = (name: string, body: Buffer): void => void files.push({ name: FOLDER + name, body });
  try {
    for (const [name, path] of Object.entries({ ...TEXT_PAGES, ...PROFILES })) {
      const { status, body } = await pages.page(path);
      // What is switched off is missing; a check that fails is what is looked for.
      if (status === 404) continue;
      if (name.endsWith('.gz') && status === 200) add(name, body);
      else add(name, Buffer.from(cut(body.toString('utf8').replaceAll('\0', '\n'))));
    }
  } finally {
    pages.close();
  }
  add('orch.txt', Buffer.from(`${versionText()}\nnode ${process.version} ${process.platform}/${process.arch}\n`));
  if (logFile !== undefined) add('log.txt', Buffer.from(cut(endOf(logFile))));
  return files;
}

/** The last lines of a file. Throws OrchError BadConfiguration. */
function endOf(path: string): string {
  try {
    const descriptor = openSync(path, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const from = Math.max(0, size - LOG_BYTES_MAX);
      const bytes = Buffer.alloc(size - from);
      const read = readSync(descriptor, bytes, 0, bytes.length, from);
      const text = bytes.toString('utf8', 0, read);
      // A line that is cut in two could show the half of a credential.
      return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new OrchError(
      'BadConfiguration',
      `the log ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}
