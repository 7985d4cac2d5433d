// A real OpenID Connect provider (the package oidc-provider) over HTTPS, and a user who logs in to it as a browser would: by
// following its redirects and sending its forms.
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as startRequest } from 'node:https';
import { exportJWK, generateKeyPair } from 'jose';
import { httpsService } from './credentials.ts';
import type { Scope } from './server-process.ts';

export interface RunningProvider {
  readonly issuer: string;
}

/** What of the package is used. */
interface ProviderPackage {
  readonly default: new (
    issuer: string,
    configuration: object,
  ) => { callback(): (request: IncomingMessage, response: ServerResponse) => void };
}

const REDIRECT = 'https://app.invalid/callback';
const SECRET = 'for-the-tests-of-tokens-alone';

/** A provider until the scope ends, of the clients `orch` and `another-client`; its certificate is `name.crt`. */
export async function openIdProvider(scope: Scope, files: string, name: string): Promise<RunningProvider> {
  let answer = (_request: IncomingMessage, response: ServerResponse): void => void response.end();
  const issuer = await httpsService(scope, files, name, (request, response) => answer(request, response));
  // The package comes without types.
  const { default: Provider } = (await import('oidc-provider' as string)) as ProviderPackage;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const client = { redirect_uris: [REDIRECT], client_secret: SECRET, grant_types: ['authorization_code'] };
  const provider = new Provider(issuer, {
    clients: ['orch', 'another-client'].map((id) => ({ client_id: id, ...client })),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: 'first' }] },
    claims: { openid: ['sub', 'groups'] },
    // Claims stand in the token that says who has logged in, and not only where its client may ask for them.
    conformIdTokenClaims: false,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, groups: [`${id}-friends`] }),
    }),
  });
  answer = provider.callback();
  return { issuer };
}

interface Page {
  readonly location: string | undefined;
  readonly text: string;
}

/** A user's side of the connection: keeps cookies, follows nothing by itself, and believes any certificate. */
class Browser {
  readonly #cookies = new Map<string, string>();

  open(url: string, form?: Readonly<Record<string, string>>, authorization?: string): Promise<Page> {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const headers = {
      Cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    };
    return new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const outgoing = startRequest(url, { method, headers, rejectUnauthorized: false, agent: false }, (answer) => {
        for (const cookie of answer.headers['set-cookie'] ?? []) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
          if (value === '') this.#cookies.delete(name);
          else this.#cookies.set(name, value);
        }
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('end', () => {
          const { location } = answer.headers;
          resolve({ location: location && new URL(location, url).href, text });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}

const STEPS_MAX = 20;

/** Logs a user in to a client, and answers the tokens that the client then gets. */
export async function loggedIn(
  { issuer }: RunningProvider,
  client: string,
  user: string,
): Promise<{ readonly idToken: string; readonly accessToken: string }> {
  const browser = new Browser();
  const verifier = randomBytes(32).toString('base64url');
  const asked = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  let at = `${issuer}/auth?${asked}`;
  for (let step = 0; !at.startsWith(REDIRECT); step++) {
    if (step === STEPS_MAX) throw new Error(`the log-in goes round in circles at ${at}`);
    const page = await browser.open(at);
    at = page.location ?? (await answered(browser, at, page.text, user));
  }
  const code = new URL(at).searchParams.get('code');
  if (code === null) throw new Error(`the log-in was refused: ${at}`);
  const basic = `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}`;
  const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier };
  const { text } = await browser.open(`${issuer}/token`, form, basic);
  const tokens = JSON.parse(text) as { id_token: string; access_token: string };
  return { idToken: tokens.id_token, accessToken: tokens.access_token };
}

/** Sends the form of a page: the user's name, or consent. Answers where to go on. */
async function answered(browser: Browser, url: string, html: string, user: string): Promise<string> {
  const prompt = /name="prompt" value="([^"]+)"/.exec(html)?.[1];
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? url;
  if (prompt === undefined) throw new Error(`the page has no form: ${html.slice(0, 500)}`);
  const form = { prompt, ...(prompt === 'login' ? { login: user, password: 'any' } : {}) };
  const { location, text } = await browser.open(new URL(action, url).href, form);
  if (location === undefined) throw new Error(`the form led nowhere: ${text.slice(0, 500)}`);
  return location;
}
