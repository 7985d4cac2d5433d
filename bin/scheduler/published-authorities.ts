// What a cluster publishes for its components of the authorities that clients are believed by: a config map of PEM texts and of lists in
// JSON (`extension-apiserver-authentication`). Whether it is of use, and what is in it. Pure.
import { OrchError } from '../../runtime/errors.ts';
import { bundleOf } from '../../transport/tls/material-files.ts';

export const MAP_NAME = 'extension-apiserver-authentication';
const BUNDLES = ['client-ca-file', 'requestheader-client-ca-file'] as const;
const LISTS = [
  'requestheader-allowed-names',
  'requestheader-username-headers',
  'requestheader-group-headers',
  'requestheader-extra-headers-prefix',
] as const;

/** What the config map says; nothing where it is not asked for. */
export type ClusterAuthorities = Readonly<Record<string, string>>;

/** The map with bundles that can be joined with others. Throws OrchError BadConfiguration for one with something of no use in it. */
export function usableAuthorities(map: ClusterAuthorities): ClusterAuthorities {
  const bundles = BUNDLES.flatMap((name) => {
    const pem = map[name] ?? '';
    return pem === '' ? [] : [[name, bundleOf(`${name} of the config map ${MAP_NAME}`, pem)] as const];
  });
  for (const name of LISTS) listIn(map, name);
  return { ...map, ...Object.fromEntries(bundles) };
}

/** Lists stand there as JSON. Throws OrchError BadConfiguration for what is none. */
export function listIn(cluster: ClusterAuthorities, name: string): readonly string[] {
  const text = cluster[name] ?? '';
  if (text === '') return [];
  const value = parsed(text);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new OrchError('BadConfiguration', `${name} of the config map ${MAP_NAME} is no list of texts in JSON`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
