// Rules of storage versions: the name says which resource, the status which server stores it in what.
import type { JsonObject } from '../../json/json-value.ts';
import { qualifiedNameProblems, textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Rule, RuleTable } from '../rule.ts';

const name: Rule<JsonObject> = (object, at) => {
  const { name: text = '' } = metadataOf(object);
  // It never changes, and none was asked for this once.
  if (text !== '' && !at.isUpdate) at.problems('metadata.name', text, nameProblems(text));
};

function nameProblems(text: string): readonly string[] {
  const dot = text.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  const ofGroup = textProblems('dns1123Subdomain', text.slice(0, dot));
  const ofResource = textProblems('dns1035Label', text.slice(dot + 1));
  return [
    ...ofGroup.map((problem) => `the group segment ${problem}`),
    ...ofResource.map((problem) => `the resource segment ${problem}`),
  ];
}

interface ServerVersion {
  readonly apiServerID?: string;
  readonly encodingVersion?: string;
  readonly decodableVersions?: readonly string[];
}

function versionProblems(text: string): readonly string[] {
  const parts = text.split('/');
  const version = parts.at(-1)!;
  if (parts.length > 2) return ['must be a version, or a group, "/" and a version'];
  const ofGroup = parts.length === 2 ? textProblems('dns1123Subdomain', parts[0]!) : [];
  return [...ofGroup, ...textProblems('dns1035Label', version)];
}

const serverVersion: Rule<ServerVersion> = ({ apiServerID = '', encodingVersion = '', decodableVersions = [] }, at) => {
  at.problems('apiServerID', apiServerID, textProblems('dns1123Subdomain', apiServerID));
  at.problems('encodingVersion', encodingVersion, versionProblems(encodingVersion));
  for (const [index, version] of decodableVersions.entries()) {
    at.problems(`decodableVersions[${index}]`, version, versionProblems(version));
  }
  if (!decodableVersions.includes(encodingVersion)) {
    at.invalid(
      'decodableVersions',
      decodableVersions,
      `decodableVersions must include encodingVersion ${encodingVersion}`,
    );
  }
};

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface StorageVersionStatus {
  readonly storageVersions?: readonly ServerVersion[];
  readonly commonEncodingVersion?: string | null;
  readonly conditions?: readonly Condition[];
}

const commonVersion: Rule<StorageVersionStatus> = ({ storageVersions = [], commonEncodingVersion }, at) => {
  const versions = new Set(storageVersions.map(({ encodingVersion }) => encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  const given = commonEncodingVersion ?? undefined;
  if (given === common) return;
  let detail = 'should be nil if servers do not agree on a version';
  if (common !== undefined) detail = `the ${given === undefined ? '' : 'actual '}common encoding version is ${common}`;
  at.invalid('commonEncodingVersion', given ?? null, detail);
};

/** Clients know the conditions by their place in the status, without the name of the list. */
const conditions: Rule<StorageVersionStatus> = ({ conditions: list = [] }, at) => {
  const places = new Map<string, number>();
  for (const [index, { type = '', status = '', reason = '', message = '' }] of list.entries()) {
    const before = places.get(type);
    if (before !== undefined) {
      const detail = `the type of the condition is not unique, it also appears in conditions[${before}]`;
      at.invalid(`[${index}].type`, type, detail);
    }
    places.set(type, index);
    at.problems(`[${index}].type`, type, qualifiedNameProblems(type));
    at.problems(`[${index}].status`, type, qualifiedNameProblems(status));
    if (reason === '') at.required(`[${index}].reason`, 'reason cannot be empty');
    if (message === '') at.required(`[${index}].message`, 'message cannot be empty');
  }
};

export const storageVersionTypes: RuleTable = {
  'apiserverinternal/v1alpha1.StorageVersion': { rules: [name] },
  'apiserverinternal/v1alpha1.ServerStorageVersion': { rules: [serverVersion] },
  'apiserverinternal/v1alpha1.StorageVersionStatus': { rules: ['storageVersions', commonVersion, conditions] },
};
