// Which volumes a policy allows. Pure.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { type FieldError, invalid } from '../../../../api/status/field-error.ts';
import type { Dialect } from '../../../../config/dialect.ts';
import { containersOf } from '../pod-containers.ts';
import type { Policy } from './policy.ts';

const ALL = '*';
/** Volumes that policies call otherwise than pods do. */
const CALLED: Readonly<Record<string, string>> = { cephfs: 'cephFS' };

export interface VolumeSettings {
  readonly dialect: Dialect;
  /** Feature gate CSIInlineVolume. */
  readonly hasCsi: boolean;
}

export function volumeProblems(spec: JsonObject, policy: Policy, settings: VolumeSettings): readonly FieldError[] {
  return partsAt(spec, 'volumes').flatMap((volume, index) => {
    const path = `spec.volumes[${index}]`;
    const member = Object.keys(volume).find((key) => key !== 'name') ?? '';
    const type = CALLED[member] ?? member;
    if (!allowsType(policy, type, volume, settings.dialect))
      return [invalid(path, type, `${type} volumes are not allowed to be used`)];
    return RULES[member]?.({ policy, volume, path, spec, settings }) ?? [];
  });
}

function allowsType({ volumes }: Policy, type: string, volume: JsonObject, dialect: Dialect): boolean {
  if (volumes.includes(ALL) || volumes.includes(type)) return true;
  // The token of the account, which was a secret once.
  return type === 'projected' && volumes.includes('secret') && isTokenVolume(partAt(volume, 'projected'), dialect);
}

/** True for a volume as every pod gets it for the token of its account. */
function isTokenVolume(projected: JsonObject, dialect: Dialect): boolean {
  return partsAt(projected, 'sources').every((source) => {
    if (source.serviceAccountToken !== undefined) {
      const token = partAt(source, 'serviceAccountToken');
      if (token.path !== 'token' || textAt(token, 'audience') !== '') return false;
    } else if (source.configMap === undefined && source.downwardAPI === undefined) return false;
    if (source.configMap !== undefined && partAt(source, 'configMap').name !== dialect.spell('@short-root-ca.crt'))
      return false;
    return partsAt(partAt(source, 'downwardAPI'), 'items').every(isNamespace);
  });
}

function isNamespace(item: JsonObject): boolean {
  const { apiVersion, fieldPath } = partAt(item, 'fieldRef');
  return item.path === 'namespace' && apiVersion === 'v1' && fieldPath === 'metadata.namespace';
}

interface Volume {
  readonly policy: Policy;
  readonly volume: JsonObject;
  readonly path: string;
  readonly spec: JsonObject;
  readonly settings: VolumeSettings;
}

/** What is asked of volumes of an allowed type, by their member. */
const RULES: Readonly<Record<string, (of: Volume) => readonly FieldError[]>> = {
  hostPath: hostPathProblems,
  flexVolume: ({ policy: { flexDrivers }, volume, path }) => {
    const driver = textAt(partAt(volume, 'flexVolume'), 'driver');
    if (flexDrivers.length === 0 || flexDrivers.includes(driver)) return [];
    return [invalid(`${path}.driver`, driver, 'Flexvolume driver is not allowed to be used')];
  },
  csi: ({ policy: { csiDrivers }, volume, path, settings }) => {
    const driver = textAt(partAt(volume, 'csi'), 'driver');
    if (!settings.hasCsi || csiDrivers.length === 0 || csiDrivers.includes(driver)) return [];
    return [invalid(`${path}.csi.driver`, driver, 'Inline CSI driver is not allowed to be used')];
  },
};

function hostPathProblems({ policy: { hostPaths }, volume, path, spec }: Volume): readonly FieldError[] {
  if (hostPaths.length === 0) return [];
  const hostPath = textAt(partAt(volume, 'hostPath'), 'path');
  const allowing = hostPaths.filter(({ prefix }) => isBelow(hostPath, prefix));
  if (allowing.length === 0) return [invalid(`${path}.hostPath.pathPrefix`, hostPath, 'is not allowed to be used')];
  return allowing.every(({ isReadOnly }) => isReadOnly) ? writingMounts(spec, textAt(volume, 'name')) : [];
}

/** The path itself and what is in it; `/foo` is not over `/food`. */
function isBelow(path: string, prefix: string): boolean {
  const [inner, outer] = [withoutSlash(path), withoutSlash(prefix)];
  return inner === outer || inner.startsWith(`${outer}/`);
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function writingMounts(spec: JsonObject, name: string): readonly FieldError[] {
  return containersOf(spec).flatMap(({ container, path }) =>
    partsAt(container, 'volumeMounts').flatMap((mount, index) =>
      mount.name !== name || mount.readOnly === true
        ? []
        : [invalid(`${path}.volumeMounts[${index}].readOnly`, false, 'must be read-only')],
    ),
  );
}
