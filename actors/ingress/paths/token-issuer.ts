// What others need to verify this server's service-account tokens (SPEC.md "Other addresses"): OpenID Connect Discovery, and
// the public keys it points at. The auth actor holds both.
import type { Ref } from '../../../runtime/actor.ts';
import type { AuthProtocol } from '../../auth/protocol.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** By path: the member of the auth actor's answer, and its content type. */
const DOCUMENTS = {
  '/.well-known/openid-configuration': ['configuration', 'application/json'],
  '/openid/v1/jwks': ['keySet', 'application/jwk-set+json'],
} as const;

export const ISSUER_PATHS: readonly string[] = Object.keys(DOCUMENTS);

/** Answers false for a path of others, and where the issuer has no such documents. */
export async function serveIssuer(
  exchange: Exchange,
  path: string,
  auth: Ref<AuthProtocol>,
  deadlineMs: number,
): Promise<boolean> {
  if (!Object.hasOwn(DOCUMENTS, path)) return false;
  const [member, contentType] = DOCUMENTS[path as keyof typeof DOCUMENTS];
  const document = (await auth.ask({ type: 'issuer' }, { deadlineMs, requestNumber: exchange.requestNumber }))[member];
  if (document === null) return false;
  const headers = [
    ['Content-Type', contentType],
    ['Cache-Control', 'public, max-age=3600'],
  ] as const;
  exchange.answer(200, headers, JSON.stringify(document));
  return true;
}
