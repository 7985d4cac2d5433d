// The keys of a token issuer that changes them, that is slow to say so, and that is down: who is let in meanwhile.
import test from 'ava';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { IssuerKeys, KEYS_KEPT_MS } from '../../../actors/auth/authenticators/issuer-keys.ts';

const ISSUER = 'https://issuer.test';
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const MINUTE_MS = 60_000;

interface SigningKey {
  readonly id: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

async function signingKey(id: string): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return { id, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg: 'ES256' } };
}

/** An issuer whose keys are these, when it answers; and what a token of one of them comes to. */
class Issuer {
  keys: readonly SigningKey[];
  /** What every answer waits for. */
  answers: Promise<void> = Promise.resolve();
  asked = 0;
  #nowMs = 0;
  #heard = (): void => {};
  readonly #read = new IssuerKeys({
    issuerUrl: ISSUER,
    algorithms: ['ES256'],
    client: { get: (url) => this.#answer(url) },
    clock: { nowMs: () => NOW_MS + this.#nowMs, monotonicMs: () => this.#nowMs },
  });

  constructor(...keys: readonly SigningKey[]) {
    this.keys = keys;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** Resolves with the next question. */
  question(): Promise<void> {
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  /** Whether a token that is signed with a key is good. */
  async takes({ id, privateKey }: SigningKey): Promise<boolean> {
    const claims = { iss: ISSUER, sub: 'sue', exp: (NOW_MS + 60 * MINUTE_MS) / 1000 };
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: id }).sign(privateKey);
    return this.#read.claimsOf(token).then(
      () => true,
      () => false,
    );
  }

  async #answer(url: string): Promise<unknown> {
    this.asked++;
    this.#heard();
    await this.answers;
    if (url !== `${ISSUER}/keys`) return { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` };
    return { keys: this.keys.map(({ jwk }) => jwk) };
  }
}

/** What somebody waits for until it is settled. */
function held(): { readonly promise: Promise<void>; readonly release: () => void; readonly fail: () => void } {
  let [release, fail] = [(): void => {}, (): void => {}];
  const promise = new Promise<void>((resolve, reject) => {
    release = resolve;
    fail = () => reject(new Error('down'));
  });
  promise.catch(() => {});
  return { promise, release, fail };
}

test('tokens of a new key that come together are all good, though its issuer is asked once', async (t) => {
  const [old, fresh] = [await signingKey('old'), await signingKey('fresh')];
  const issuer = new Issuer(old);
  t.true(await issuer.takes(old));
  issuer.pass(MINUTE_MS);
  issuer.keys = [old, fresh];
  const { promise, release } = held();
  issuer.answers = promise;
  const isAsked = issuer.question();
  const first = issuer.takes(fresh);
  await isAsked;
  const others = [issuer.takes(fresh), issuer.takes(fresh)];
  t.true(await issuer.takes(old), 'who has a known key does not wait');
  release();
  t.deepEqual(await Promise.all([first, ...others]), [true, true, true]);
  t.is(issuer.asked, 4, 'its document and its keys, twice');
});

test('while an issuer is down its keys hold beyond their time, and nobody waits for it once that is known', async (t) => {
  const [key, fresh] = [await signingKey('a'), await signingKey('b')];
  const issuer = new Issuer(key);
  t.true(await issuer.takes(key));
  issuer.pass(KEYS_KEPT_MS);
  const down = held();
  down.fail();
  issuer.answers = down.promise;
  t.true(await issuer.takes(key));
  t.is(issuer.asked, 3);
  issuer.pass(MINUTE_MS);
  const hanging = held();
  issuer.answers = hanging.promise;
  const isAsked = issuer.question();
  t.true(await issuer.takes(key));
  await isAsked;
  issuer.keys = [fresh];
  hanging.release();
  t.true(await issuer.takes(fresh));
  t.false(await issuer.takes(key), 'what it has taken back is good no more when it has said so');
});

test('an issuer that could not be asked for a new key is asked again a moment later', async (t) => {
  const [old, fresh] = [await signingKey('old'), await signingKey('fresh')];
  const issuer = new Issuer(old);
  t.true(await issuer.takes(old));
  issuer.pass(MINUTE_MS);
  issuer.keys = [old, fresh];
  const down = held();
  down.fail();
  issuer.answers = down.promise;
  t.false(await issuer.takes(fresh));
  issuer.answers = Promise.resolve();
  t.false(await issuer.takes(fresh), 'not at once');
  issuer.pass(1000);
  t.true(await issuer.takes(fresh));
});
