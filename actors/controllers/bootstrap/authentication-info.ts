// The content of the config map from which extension servers learn whom this server's word stands for: its client
// authority and its request-header settings. Merged with what is there, for other servers may use other authorities.

import { asText, asTexts } from '../../../api/json/object-fields.ts';
import { expiryOf } from '../../../transport/tls/certificates.ts';
import type { ApiObject } from '../controller.ts';
import type { AuthenticationInfo } from '../options.ts';

/** Clocks differ: who has run out for less than this may be believed elsewhere. */
const SLACK_MS = 300_000;

/**
 * The config map's keys that we have something to say about, with our part merged into what is `present`. Authorities that have run out are
 * left out: each that is replaced would stand there for good.
 */
export function authenticationData(
  present: ApiObject,
  info: AuthenticationInfo,
  nowMs: number,
): Readonly<Record<string, string>> {
  const data: Record<string, string> = {};
  const bundle = (key: string, pem: string) => {
    data[key] = mergedBundle(asText(present[key]), pem, nowMs);
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

function mergedBundle(present: string, ours: string, nowMs: number): string {
  const certificates = new Set([...certificatesIn(present), ...certificatesIn(ours)]);
  const valid = [...certificates].filter((pem) => expiryOf(pem) >= nowMs - SLACK_MS);
  return valid.map((certificate) => `${certificate}\n`).join('');
}

// Someone may have written anything there: what is no list counts as an empty one.
function parsedList(text: string): readonly string[] {
  try {
    return asTexts(JSON.parse(text === '' ? '[]' : text));
  } catch {
    return [];
  }
}
