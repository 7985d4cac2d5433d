// What an APIService says, read from its stored object: which group and version another server answers for, where that is, and
// how it is believed. Plain data. Validation of the kind is validation/kinds/api-services.ts.
import type { JsonObject } from '../json/json-value.ts';
import { asObject, booleanAt, numberAt, partAt, partsAt, textAt } from '../json/object-fields.ts';

/** A port of a service, by the service's name. */
export interface ServicePort {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
}

export interface ApiService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /** Undefined: this server answers itself. */
  readonly backend: ServicePort | undefined;
  /** Authorities of the backend's certificate, as PEM; empty: those of the host. */
  readonly caPem: string;
  /** Any certificate will do. */
  readonly insecure: boolean;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** The condition Available is True. */
  readonly isAvailable: boolean;
}

/** One that another server answers for. */
export interface RemoteApiService extends ApiService {
  readonly backend: ServicePort;
}

const DEFAULT_PORT = 443;

/** Whether another server answers for it. */
export function isRemote(apiService: ApiService): apiService is RemoteApiService {
  return apiService.backend !== undefined;
}

/** Reads one of any version: they say the same. What is not there is empty. */
export function readApiService(object: JsonObject): ApiService {
  const spec = partAt(object, 'spec');
  return {
    name: textAt(partAt(object, 'metadata'), 'name'),
    group: textAt(spec, 'group'),
    version: textAt(spec, 'version'),
    backend: spec.service === undefined || spec.service === null ? undefined : readBackend(asObject(spec.service)),
    caPem: Buffer.from(textAt(spec, 'caBundle'), 'base64').toString('utf8'),
    insecure: booleanAt(spec, 'insecureSkipTLSVerify'),
    groupPriority: numberAt(spec, 'groupPriorityMinimum'),
    versionPriority: numberAt(spec, 'versionPriority'),
    isAvailable: statedAvailability(object) === true,
  };
}

export const AVAILABLE = 'Available';

/** What the stored condition says; undefined while it says nothing. */
export function statedAvailability(object: JsonObject): boolean | undefined {
  const stated = partsAt(partAt(object, 'status'), 'conditions').find(({ type }) => type === AVAILABLE);
  return stated === undefined ? undefined : stated.status === 'True';
}

/** Its backend as messages name it. */
export function backendText({ namespace, service, port }: ServicePort): string {
  return `service ${namespace}/${service}:${port}`;
}

/** Where the documents of its group and version are. */
export function pathOf({ group, version }: Pick<ApiService, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

function readBackend(service: JsonObject): ServicePort {
  return {
    namespace: textAt(service, 'namespace'),
    service: textAt(service, 'name'),
    port: service.port === undefined ? DEFAULT_PORT : numberAt(service, 'port'),
  };
}
