// Rules of what is kept for others: config maps, secrets, service accounts and namespaces.
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { qualifiedNameProblems, textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { isStandardFinalizer } from '../../metadata/object-meta-rules.ts';
import type { Report } from '../report.ts';
import { type ChangeRule, type ChangeTable, CREATE_RULES, type Rule, type RuleTable } from '../rule.ts';

/** No bytes are null, or an empty text. */
type Data = Readonly<Record<string, string | null>>;

/** Bytes of all values together. */
const DATA_BYTES_MAX = 1024 * 1024;

interface ConfigMap extends JsonObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Data;
  readonly immutable?: boolean | null;
}

function checkKeys(data: Data | undefined, member: string, at: Report, binary?: Data): void {
  for (const key in data) {
    const problems = textProblems('configMapKey', key);
    if (problems.length > 0) at.problems(`${member}[${key}]`, key, problems);
    if (binary !== undefined && Object.hasOwn(binary, key))
      at.invalid(`${member}[${key}]`, key, 'duplicate of key present in binaryData');
  }
}

function textBytes(data: ConfigMap['data']): number {
  let characters = 0;
  for (const key in data) characters += data[key]!.length;
  // A unit of UTF-16 is at most three bytes: only in between do the bytes have to be counted.
  if (characters > DATA_BYTES_MAX || characters * 3 <= DATA_BYTES_MAX) return characters;
  let bytes = 0;
  for (const key in data) bytes += Buffer.byteLength(data[key]!);
  return bytes;
}

/** Bytes that base64 texts stand for. */
function base64Bytes(data: Data | undefined): number {
  let bytes = 0;
  for (const key in data) {
    const text = data[key] ?? '';
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    bytes += (text.length / 4) * 3 - padding;
  }
  return bytes;
}

/** The path of what is wrong with an object as such. */
const WHOLE = '[]';

const configMap: Rule<ConfigMap> = ({ data, binaryData }, at) => {
  checkKeys(data, 'data', at, binaryData);
  checkKeys(binaryData, 'binaryData', at);
  if (textBytes(data) + base64Bytes(binaryData) > DATA_BYTES_MAX) at.tooLong(WHOLE, DATA_BYTES_MAX);
};

/** What was declared immutable stays as it is, declaration included. */
function fixedData(members: readonly string[]): ChangeRule<JsonObject> {
  return (next, stored, at) => {
    if (stored.immutable !== true) return;
    if (next.immutable !== true) at.forbidden('immutable', 'field is immutable when `immutable` is set');
    for (const member of members) {
      if (!deepEqual(next[member] ?? {}, stored[member] ?? {})) {
        at.forbidden(member, 'field is immutable when `immutable` is set');
      }
    }
  };
}

interface Secret extends JsonObject {
  readonly type?: string;
  readonly data?: Data;
}

const secretData: Rule<Secret> = ({ data }, at) => {
  checkKeys(data, 'data', at);
  if (base64Bytes(data) > DATA_BYTES_MAX) at.tooLong('data', DATA_BYTES_MAX);
};

type SecretRule = (secret: Secret, at: Report) => void;

const hasKey =
  (key: string): SecretRule =>
  ({ data }, at) => {
    if (data === undefined || !Object.hasOwn(data, key)) at.required(`data[${key}]`);
  };

/** There, and not empty. */
const hasContent =
  (key: string): SecretRule =>
  ({ data }, at) => {
    if (data === undefined || !Object.hasOwn(data, key) || (data[key] ?? '') === '') at.required(`data[${key}]`);
  };

const hasEither =
  (first: string, second: string): SecretRule =>
  ({ data = {} }, at) => {
    if (Object.hasOwn(data, first) || Object.hasOwn(data, second)) return;
    at.required(`data[${first}]`);
    at.required(`data[${second}]`);
  };

const hasJson =
  (key: string): SecretRule =>
  ({ data = {} }, at) => {
    if (!Object.hasOwn(data, key)) {
      at.required(`data[${key}]`);
      return;
    }
    if (!isJsonMap(Buffer.from(data[key] ?? '', 'base64').toString()))
      at.invalid(`data[${key}]`, '<secret contents redacted>', 'must be a JSON object');
  };

function isJsonMap(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return value === null || (typeof value === 'object' && !Array.isArray(value));
  } catch {
    return false;
  }
}

const ofServiceAccount: SecretRule = (secret, at) => {
  const key = `${at.dialect.labelDomain}/service-account.name`;
  if ((metadataOf(secret).annotations?.[key] ?? '') === '') at.required(`metadata.annotations[${key}]`);
};

/** By the part of the type after the domain. */
const SECRET_TYPES: Readonly<Record<string, readonly SecretRule[]>> = {
  'service-account-token': [ofServiceAccount],
  dockercfg: [hasJson('.dockercfg')],
  dockerconfigjson: [hasJson('.dockerconfigjson')],
  'basic-auth': [hasEither('username', 'password')],
  'ssh-auth': [hasContent('ssh-privatekey')],
  tls: [hasKey('tls.crt'), hasKey('tls.key')],
};

const secretType: Rule<Secret> = (secret, at) => {
  const { type = '' } = secret;
  const prefix = `${at.dialect.labelDomain}/`;
  if (!type.startsWith(prefix)) return;
  const name = type.slice(prefix.length);
  for (const rule of (Object.hasOwn(SECRET_TYPES, name) ? SECRET_TYPES[name] : undefined) ?? []) rule(secret, at);
};

const namespaceFinalizers: Rule<readonly string[]> = (finalizers, at) => {
  for (const [index, finalizer] of finalizers.entries()) {
    at.problems(`[${index}]`, finalizer, qualifiedNameProblems(finalizer));
    if (!finalizer.includes('/') && !isStandardFinalizer(finalizer, at.dialect)) {
      at.invalid(`[${index}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
    }
  }
};

const namespacePhase: ChangeRule<JsonObject> = (next, stored, at) => {
  const { phase } = (next.status ?? {}) as { phase?: string };
  const ends = (metadataOf(stored).deletionTimestamp ?? null) !== null;
  const expected = ends ? 'Terminating' : 'Active';
  if (phase === expected) return;
  const detail = ends
    ? "may only be 'Terminating' while the namespace is being deleted"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  at.invalid('status.Phase', phase ?? '', detail);
};

export const configurationTypes: RuleTable = {
  'core/v1.ConfigMap': { rules: [configMap] },
  'core/v1.Secret': { rules: [secretData, secretType] },
  'core/v1.NamespaceSpec': { fields: { finalizers: { rules: [namespaceFinalizers] } } },
};

export const configurationUpdates: ChangeTable = {
  'core/v1.ConfigMap': { rules: [fixedData(['data', 'binaryData']), CREATE_RULES] },
  'core/v1.Secret': { fields: { type: { immutable: true } }, rules: [fixedData(['data']), CREATE_RULES] },
};

export const configurationStatusUpdates: ChangeTable = {
  'core/v1.Namespace': { rules: [namespacePhase] },
};
