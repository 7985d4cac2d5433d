// What clients are told of an encrypted value that cannot be read: the original's words, which name neither key nor object.

/** No provider of the resource is of the value's prefix, or the value has none and may not be read as it is. */
const NO_PREFIX = 'no matching prefix found';
/** Nothing is to be encrypted there. */
export const NOT_CONFIGURED = 'identity transformer tried to read encrypted data';

interface Words {
  readonly noKey: string;
  readonly notOpened: string;
}

const AES_NO_KEY = 'no matching key was found for the provided AES transformer';

/** By the kind of a provider, as its prefix names it. */
const WORDS: Readonly<Record<string, Words>> = {
  aescbc: { noKey: AES_NO_KEY, notOpened: 'invalid padding on input' },
  aesgcm: { noKey: AES_NO_KEY, notOpened: 'cipher: message authentication failed' },
  secretbox: {
    noKey: 'no matching key was found for the provided Secretbox transformer',
    notOpened: 'output array was not large enough for encryption',
  },
};

/** Of a value that begins so, where none of these providers (prefixes without the name of a key) reads it. */
export function toldOfMissing(providers: readonly string[], value: Uint8Array): string {
  const text = Buffer.from(value.buffer, value.byteOffset, Math.min(value.byteLength, 400)).toString('latin1');
  const provider = providers.find((prefix) => prefix !== '' && text.startsWith(prefix));
  return (provider && WORDS[kindIn(provider)]?.noKey) ?? NO_PREFIX;
}

/** Of a value that the provider does not open. `reason`: where its kind has no words of its own. */
export function toldOfUnopened(provider: string, reason: string): string {
  return WORDS[kindIn(provider)]?.notOpened ?? reason;
}

/** `k8s:enc:aescbc:v1:`. */
function kindIn(provider: string): string {
  return provider.split(':')[2] ?? '';
}
