// The proxy that an environment names for programs that ask for one. Nothing here does.
type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;
const EXCEPTIONS = ['NO_PROXY', 'no_proxy'] as const;

/** What there is in place of a proxy. */
export const IN_ITS_PLACE = {
  server: 'since --egress-selector-config-file says which way connections take',
  scheduler: 'since connections go straight',
} as const;

/**
 * That the environment names a proxy that no connection goes through, in one line; `instead`: what there is in its place. The proxy is not
 * told, since a password may stand in it.
 */
export function idleProxy(environment: Environment, instead: string): string | undefined {
  if (EXCEPTIONS.some((each) => environment[each]?.trim() === '*')) return undefined;
  const name = NAMES.find((each) => (environment[each] ?? '') !== '');
  return name === undefined ? undefined : `${name} in the environment: not in force, ${instead}`;
}
