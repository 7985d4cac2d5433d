// Brings the objects of a running server under the first provider of each resource, through its API and as its admin: a
// patch that changes nothing is stored where the object lies on disk in another form than would be written now.

import { Agent, request } from 'node:https';
import { rootPath } from '../api/verbs.ts';
import { OrchError } from '../runtime/errors.ts';
import { adminConnection } from './admin-connection.ts';

const PAGE = 500;
const PATCHES_AT_ONCE = 8;
const MERGE_PATCH = 'application/merge-patch+json';

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string };
}

interface Page {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly Listed[];
}

export interface RunningReencrypted {
  readonly objects: number;
  readonly rewritten: number;
}

/** Resources as the encryption configuration names them. Throws OrchError when the server does not do as asked. */
export async function reencryptRunning(directory: string, resources: readonly string[]): Promise<RunningReencrypted> {
  const api = new AdminApi(directory);
  try {
    let [objects, rewritten] = [0, 0];
    for (const resource of resources) {
      const { prefix, plural } = await collectionOf(api, resource);
      for (let token: string | undefined = ''; token !== undefined; ) {
        const page: Page = await api.list(`${prefix}/${plural}`, token);
        objects += page.items.length;
        rewritten += await rewritePage(api, prefix, plural, page.items);
        token = page.metadata.continue || undefined;
      }
    }
    return { objects, rewritten };
  } finally {
    api.close();
  }
}

async function rewritePage(api: AdminApi, prefix: string, plural: string, items: readonly Listed[]): Promise<number> {
  let rewritten = 0;
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const { name, namespace, resourceVersion } = item.metadata;
      const home = namespace === undefined ? prefix : `${prefix}/namespaces/${encodeURIComponent(namespace)}`;
      const version = await api.touch(`${home}/${plural}/${encodeURIComponent(name)}`);
      if (version !== undefined && version !== resourceVersion) rewritten++;
    }
  };
  await Promise.all(Array.from({ length: PATCHES_AT_ONCE }, work));
  return rewritten;
}

/** Where a resource is served, in the version its group prefers. */
async function collectionOf(api: AdminApi, resource: string): Promise<{ prefix: string; plural: string }> {
  const dot = resource.indexOf('.');
  if (dot < 0) return { prefix: rootPath('', 'v1'), plural: resource };
  const group = resource.slice(dot + 1);
  const { preferredVersion } = (await api.get(`/apis/${group}`)) as { preferredVersion: { version: string } };
  return { prefix: rootPath(group, preferredVersion.version), plural: resource.slice(0, dot) };
}

/** The server that owns a data folder, as its admin reaches it. */
class AdminApi {
  readonly #server: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(directory: string) {
    const { url, ca, token } = adminConnection(directory);
    this.#server = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: PATCHES_AT_ONCE, ca });
  }

  async get(path: string): Promise<unknown> {
    const { status, text } = await this.#send('GET', path);
    if (status !== 200) throw refused('GET', path, status, text);
    return JSON.parse(text);
  }

  async list(path: string, token: string): Promise<Page> {
    const from = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
    return (await this.get(`${path}?limit=${PAGE}${from}`)) as Page;
  }

  /** The object's version after a patch that changes nothing; undefined when it is gone. */
  async touch(path: string): Promise<string | undefined> {
    const { status, text } = await this.#send('PATCH', path, '{}');
    if (status === 404) return undefined;
    if (status !== 200) throw refused('PATCH', path, status, text);
    return (JSON.parse(text) as Listed).metadata.resourceVersion;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: string): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': MERGE_PATCH }),
      };
      const sent = request(this.#server + path, { method, headers, agent: this.#agent }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') }),
        );
      });
      sent.on('error', (error) => reject(new OrchError('Refused', `the server at ${this.#server}: ${error.message}`)));
      sent.end(body);
    });
  }
}

function refused(method: string, path: string, status: number, text: string): OrchError {
  let message = '';
  try {
    message = String((JSON.parse(text) as { message?: unknown }).message ?? '');
  } catch {
    // Not the server's own answer; its status says enough.
  }
  return new OrchError('Refused', `${method} ${path} was answered ${status}${message === '' ? '' : `: ${message}`}`);
}
