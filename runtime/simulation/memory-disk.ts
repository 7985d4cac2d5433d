// A disk in memory for simulations: whole files under absolute paths. Bytes are copied in and out, as a real disk would.
import type { Disk } from '../environment.ts';

/** An error as Node's file system throws it: with a `code`. */
class DiskError extends Error {
  readonly code: string;

  constructor(code: string, path: string) {
    super(`${code}: ${path}`);
    this.name = 'DiskError';
    this.code = code;
  }
}

export class MemoryDisk implements Disk {
  private readonly files = new Map<string, Uint8Array>();
  private readonly directories = new Set<string>(['/']);

  async readFile(path: string): Promise<Uint8Array> {
    const bytes = this.files.get(path);
    if (bytes === undefined) throw new DiskError(this.directories.has(path) ? 'EISDIR' : 'ENOENT', path);
    return bytes.slice();
  }

  async writeFileAtomic(path: string, bytes: Uint8Array): Promise<void> {
    if (this.directories.has(path)) throw new DiskError('EISDIR', path);
    if (!this.directories.has(parentOf(path))) throw new DiskError('ENOENT', path);
    this.files.set(path, new Uint8Array(bytes));
  }

  async exists(path: string): Promise<boolean> {
    return this.files.has(path) || this.directories.has(path);
  }

  async makeDirectory(path: string): Promise<void> {
    for (let each = path; each !== '/'; each = parentOf(each)) {
      if (this.files.has(each)) throw new DiskError('EEXIST', each);
      this.directories.add(each);
    }
  }
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}
