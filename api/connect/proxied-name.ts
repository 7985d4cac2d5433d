// The names that the proxy subresources take: `name`, `name:port`, `scheme:name:port`. Pure.

export interface ProxiedName {
  readonly scheme: '' | 'http' | 'https';
  readonly name: string;
  /** A number or a port's name; empty for the default one. */
  readonly port: string;
}

const SCHEMES: ReadonlySet<string> = new Set(['', 'http', 'https']);
const PORT_NAME = /^(?=[a-z0-9-]{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9](?:.*[a-z0-9])?$/;
const PORT_MAX = 65_535;

/** True for a port's number in decimal, without leading zeros. */
export function isPortNumber(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= PORT_MAX;
}

/** Undefined for what has too many parts, another scheme, or no port where one belongs. */
export function parseProxiedName(text: string): ProxiedName | undefined {
  const parts = text.split(':');
  if (parts.length > 3) return undefined;
  const [scheme, name, port] = parts.length === 3 ? [parts[0]!, parts[1]!, parts[2]!] : ['', parts[0]!, parts[1] ?? ''];
  if (name === '' || !SCHEMES.has(scheme)) return undefined;
  // No port, as in `name:`, is the default one.
  if (port !== '' && !isPortNumber(port) && !PORT_NAME.test(port)) return undefined;
  return { scheme: scheme as ProxiedName['scheme'], name, port };
}
