// The content of the config map from which extension servers learn whom this server's word stands for: its client
// authority and its request-header settings. Merged with what is there, for other servers may use other authorities.

import { asText, asTexts } from '../../../api/json/object-fields.ts';
import type { ApiObject } from '../controller.ts';
import type { AuthenticationInfo } from '../options.ts';

/** The config map's keys that we have something to say about, with our part merged into what is `present`. */
export function authenticationData(present: ApiObject, info: AuthenticationInfo): Readonly<Record<string, string>> {
  const data: Record<string, string> = {};
  const bundle = (key: string, pem: string) => {
    data[key] = mergedBundle(asText(present[key]), pem);
  };
  const list = (key: string, items: readonly string[]) => {
    data[key] = JSON.stringify([...new Set([...parsedList(asText(present[key])), ...items])]);
  };
  if (info.clientCaPem !== '') bundle('client-ca-file', info.clientCaPem);
  if (info.requestHeaderCaPem === '') return data;
  bundle('requestheader-client-ca-file', info.requestHeaderCaPem);
  list('requestheader-allowed-names', info.requestHeaderAllowedNames);
  list('requestheader-username-headers', info.requestHeaderUsernameHeaders);
  list('requestheader-group-headers', info.requestHeaderGroupHeaders);
  list('requestheader-extra-headers-prefix', info.requestHeaderExtraHeaderPrefixes);
  return data;
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

function mergedBundle(present: string, ours: string): string {
  const certificates = new Set([...certificatesIn(present), ...certificatesIn(ours)]);
  return [...certificates].map((certificate) => `${certificate}\n`).join('');
}

// Someone may have written anything there: what is no list counts as an empty one.
function parsedList(text: string): readonly string[] {
  try {
    return asTexts(JSON.parse(text === '' ? '[]' : text));
  } catch {
    return [];
  }
}
