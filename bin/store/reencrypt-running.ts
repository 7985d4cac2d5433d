// Brings the objects of a running server under the first provider of each resource, through its API and as its admin: a
// patch that changes nothing is stored where the object lies on disk in another form than would be written now.

import { Agent, request } from 'node:https';
import { rootPath } from '../../api/verbs.ts';
import { OrchError } from '../../runtime/errors.ts';
import { adminConnection, endWhereSilent } from '../admin/admin-connection.ts';

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

interface GroupDocument {
  readonly preferredVersion: { readonly version: string };
  readonly versions: readonly { readonly version: string }[];
}

interface VersionDocument {
  readonly resources: readonly { readonly name: string }[];
}

export interface RunningReencrypted {
  readonly objects: number;
  readonly rewritten: number;
  /** Resources of which the server knows nothing, as those of a definition that is not there yet. */
  readonly unserved: readonly string[];
  /** What the server said of each object that it would not write, as where a webhook refuses it. */
  readonly refusals: readonly string[];
}

/**
 * Resources as the encryption configuration names them. An object that is refused keeps no other from being rewritten. Throws OrchError
 * where the server does not answer, or does not list what is there.
 */
export async function reencryptRunning(directory: string, resources: readonly string[]): Promise<RunningReencrypted> {
  const api = new AdminApi(directory);
  try {
    let [objects, rewritten] = [0, 0];
    const unserved: string[] = [];
    const refusals: string[] = [];
    for (const resource of resources) {
      const [plural = '', ...group] = resource.split('.');
      const prefix = await prefixOf(api, group.join('.'), plural);
      if (prefix === undefined) {
        unserved.push(resource);
        continue;
      }
      for (let token: string | undefined = ''; token !== undefined; ) {
        const page: Page = await api.list(`${prefix}/${plural}`, token);
        objects += page.items.length;
        const { written, refused } = await rewritePage(api, prefix, plural, page.items);
        rewritten += written;
        refusals.push(...refused);
        token = page.metadata.continue || undefined;
      }
    }
    return { objects, rewritten, unserved, refusals };
  } finally {
    api.close();
  }
}

async function rewritePage(
  api: AdminApi,
  prefix: string,
  plural: string,
  items: readonly Listed[],
): Promise<{ readonly written: number; readonly refused: readonly string[] }> {
  let written = 0;
  const refused: string[] = [];
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const { name, namespace, resourceVersion } = item.metadata;
      const home = namespace === undefined ? prefix : `${prefix}/namespaces/${encodeURIComponent(namespace)}`;
      const touched = await api.touch(`${home}/${plural}/${encodeURIComponent(name)}`);
      if (touched === undefined) continue;
      if ('refusal' in touched) refused.push(touched.refusal);
      else if (touched.resourceVersion !== resourceVersion) written++;
    }
  };
  await Promise.all(Array.from({ length: PATCHES_AT_ONCE }, work));
  return { written, refused };
}

/** Where a resource is served: in the version its group prefers, else in another. Undefined where it is in none. */
async function prefixOf(api: AdminApi, group: string, plural: string): Promise<string | undefined> {
  for (const version of await versionsOf(api, group)) {
    const prefix = rootPath(group, version);
    const document = (await api.find(prefix)) as VersionDocument | undefined;
    if (document?.resources.some(({ name }) => name === plural)) return prefix;
  }
  return undefined;
}

async function versionsOf(api: AdminApi, group: string): Promise<readonly string[]> {
  if (group === '') return ['v1'];
  const document = (await api.find(`/apis/${group}`)) as GroupDocument | undefined;
  if (document === undefined) return [];
  const { preferredVersion, versions } = document;
  return [...new Set([preferredVersion, ...versions].map(({ version }) => version))];
}

/** The server that owns a data folder, as its admin reaches it. */
class AdminApi {
  readonly #server: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(directory: string) {
    const { url, tls, token } = adminConnection(directory);
    this.#server = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: PATCHES_AT_ONCE, ...tls });
  }

  /** Undefined where there is nothing. */
  async find(path: string): Promise<unknown> {
    const { status, text } = await this.#send('GET', path);
    if (status === 404) return undefined;
    if (status !== 200) throw new OrchError('Refused', refusalOf('GET', path, status, text));
    return JSON.parse(text);
  }

  async list(collection: string, token: string): Promise<Page> {
    const path = `${collection}?limit=${PAGE}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`;
    const { status, text } = await this.#send('GET', path);
    if (status === 200) return JSON.parse(text) as Page;
    // What was rewritten meanwhile has filled the history. What others have written since is under the first key by itself.
    const onward = status === 410 ? (JSON.parse(text) as Page).metadata.continue : undefined;
    if (!onward) throw new OrchError('Refused', refusalOf('GET', path, status, text));
    return { metadata: { continue: onward }, items: [] };
  }

  /** The object's version after a patch that changes nothing, or why it was not patched; undefined when it is gone. */
  async touch(path: string): Promise<{ readonly resourceVersion: string } | { readonly refusal: string } | undefined> {
    const { status, text } = await this.#send('PATCH', path, '{}');
    if (status === 404) return undefined;
    if (status !== 200) return { refusal: refusalOf('PATCH', path, status, text) };
    return { resourceVersion: (JSON.parse(text) as Listed).metadata.resourceVersion };
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
      endWhereSilent(sent);
      sent.on('error', (error) => reject(new OrchError('Refused', `the server at ${this.#server}: ${error.message}`)));
      sent.end(body);
    });
  }
}

function refusalOf(method: string, path: string, status: number, text: string): string {
  let message = '';
  try {
    message = String((JSON.parse(text) as { message?: unknown }).message ?? '');
  } catch {
    // Not the server's own answer; its status says enough.
  }
  return `${method} ${path} was answered ${status}${message === '' ? '' : `: ${message}`}`;
}
