// What tests ask of an etcd beside the servers, by its JSON gateway: as root, where it asks for a name.
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdMember } from './etcd-member.ts';

const LOOK_MS = 50;
const TRIES_MAX = 300;
const ANSWER_MS_MAX = 5000;

/** `https://name:password@host`, as servers are given it. */
export interface EtcdUser {
  readonly name: string;
  readonly password: string;
}

const ROOT = 'root';

export class EtcdGateway {
  readonly #members: readonly EtcdMember[];
  #rootPassword: string | undefined;

  constructor(members: readonly EtcdMember[]) {
    this.#members = members;
  }

  /** From now on etcd asks for a name: root's, or the user's, who may do what the servers need, and no more. */
  async askForNames(rootPassword: string, { name, password }: EtcdUser, prefix: string): Promise<void> {
    for (const member of this.#members) await this.reached(member);
    for (const [user, secret] of [
      [ROOT, rootPassword],
      [name, password],
    ] as const) {
      await this.askAny('auth/user/add', { name: user, password: secret });
      await this.askAny('auth/role/add', { name: user });
      await this.askAny('auth/user/grant', { user, role: user });
    }
    const perm = { permType: 'READWRITE', key: base64(prefix), range_end: base64(behind(prefix)) };
    await this.askAny('auth/role/grant', { name, perm });
    await this.askAny('auth/enable', {});
    this.#rootPassword = rootPassword;
  }

  /** Of one member. Rejects with its error, or after some seconds. */
  async ask(member: EtcdMember, what: string, body: object): Promise<unknown> {
    if (this.#rootPassword === undefined) return await posted(member, what, body);
    const answer = await posted(member, 'auth/authenticate', { name: ROOT, password: this.#rootPassword });
    return await posted(member, what, body, (answer as { readonly token: string }).token);
  }

  /** Of the members that answer, tried in turn until one does. */
  async askAny(what: string, body: object): Promise<unknown> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.ask(this.#members[tries % this.#members.length]!, what, body);
      } catch (error) {
        // It was done, and the answer did not come.
        if (String(error).includes('already')) return {};
        if (tries >= TRIES_MAX) throw error;
        await sleep(LOOK_MS);
      }
    }
  }

  /** Resolves when the member answers, and knows a leader. */
  async reached(member: EtcdMember): Promise<void> {
    for (let tries = 0; ; tries++) {
      const { leader = '0' } = await statusOf(member);
      if (leader !== '0') return;
      if (tries >= TRIES_MAX) throw new Error(`${member.server} does not come back`);
      await sleep(LOOK_MS);
    }
  }
}

interface MemberStatus {
  readonly header?: { readonly member_id?: string };
  readonly leader?: string;
}

/** The member that leads; undefined while there is none that says so. */
export async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember | undefined> {
  for (const member of members) {
    const { header, leader } = await statusOf(member);
    if (leader !== undefined && leader === header?.member_id) return member;
  }
  return undefined;
}

/** Lets the leader hand over to another member. Nothing where there is none. */
export async function deposeLeader(members: readonly EtcdMember[]): Promise<void> {
  const leader = await leaderOf(members);
  if (leader === undefined) return;
  for (const member of members) {
    if (member === leader) continue;
    const targetID = (await statusOf(member)).header?.member_id;
    if (targetID === undefined) continue;
    await posted(leader, 'maintenance/transfer-leadership', { targetID });
    return;
  }
}

/** Everybody may ask for it. Empty where the member does not answer. */
async function statusOf(member: EtcdMember): Promise<MemberStatus> {
  return (await posted(member, 'maintenance/status', {}).catch(() => ({}))) as MemberStatus;
}

async function posted({ server }: EtcdMember, what: string, body: object, token?: string): Promise<unknown> {
  const answer = await fetch(`${server}/v3/${what}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: token === undefined ? {} : { authorization: token },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const json: unknown = await answer.json();
  if (!answer.ok) throw new Error(`etcd answered ${what} with ${JSON.stringify(json).slice(0, 300)}`);
  return json;
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The first key behind all that begin so. */
function behind(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
