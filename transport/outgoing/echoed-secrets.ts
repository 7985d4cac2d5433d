// What a service outside is shown, cut out of what it answers: refusals are quoted to clients and in the log, and some services repeat in
// theirs what they were asked with. Pure.

const CUT = '[redacted]';
/** A shorter one is none that keeps anybody out, and would be found in other words. */
const SECRET_LENGTH_MIN = 8;

/** A text without a secret. */
export function withoutSecret(text: string, secret: string): string {
  return secret.length < SECRET_LENGTH_MIN ? text : text.replaceAll(secret, CUT);
}

/** A text without the credentials of an Authorization header, also where a password is told decoded. */
export function withoutCredentials(text: string, authorization: string): string {
  const blank = authorization.indexOf(' ');
  const credentials = authorization.slice(blank + 1);
  const left = withoutSecret(text, credentials);
  if (authorization.slice(0, blank) !== 'Basic') return left;
  const pair = Buffer.from(credentials, 'base64').toString();
  return withoutSecret(withoutSecret(left, pair), pair.slice(pair.indexOf(':') + 1));
}
