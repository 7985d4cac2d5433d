// The documents by which clients find out what there is: /api, /apis and what is below them, the list of paths, and
// /version. Documents as objects; encoding, caching and content negotiation are the caller's.

import type { Dialect } from '../../config/dialect.ts';
import { type ApiService, isRemote, pathOf } from '../aggregation/api-service.ts';
import { withRemoteGroups } from '../aggregation/priorities.ts';
import { API_MINOR_VERSION } from '../resources/deprecation.ts';
import type { Registry, ServedGroup } from '../resources/registry.ts';
import { apiVersionOf } from '../resources/resource-table.ts';
import { rootPath } from '../verbs.ts';
import { apiResources } from './api-resources.ts';

export interface DiscoverySettings {
  /** `host:port` that clients inside the cluster reach the server at; left out of `/api` when absent. */
  readonly serverAddress?: string;
  /** Paths served outside the API, for the list at `/`: `/healthz`, `/metrics` and so on. */
  readonly extraPaths: readonly string[];
  readonly build: BuildInfo;
  /** Resources say a hash of the version that they are stored in (the gate StorageVersionHash). */
  readonly tellsStorageVersions: boolean;
}

/** What `/version` tells of the running program. */
export interface BuildInfo {
  /** Of the sources; empty, as is the state of their tree, where they came without a history. */
  readonly gitCommit: string;
  /** `clean` or `dirty`. */
  readonly gitTreeState: string;
  /** RFC 3339, in UTC. */
  readonly buildDate: string;
  /** The runtime's version, such as `node20.20.2`; the field's name is the wire's. */
  readonly goVersion: string;
  /** `linux/amd64`. */
  readonly platform: string;
}

export interface Discovery {
  /**
   * The document at `path` (decoded; one trailing slash does not matter), or undefined when there is none. The same
   * object every time, so that its bytes can be kept by path.
   */
  document(path: string): object | undefined;
  /** Every path that has a document, without trailing slashes. */
  readonly paths: readonly string[];
}

/**
 * All documents for what `registry` serves, each made when it is first asked for: a server that starts has no time for
 * them. They do not change, unless a new registry does.
 *
 * @param ordering groups and versions that other servers answer for, who describe their resources themselves, and those of this server
 * that stand elsewhere than usual.
 */
export function createDiscovery(
  registry: Registry,
  dialect: Dialect,
  settings: DiscoverySettings,
  ordering: readonly ApiService[] = [],
): Discovery {
  const makers = new Map<string, () => object>();
  const groups = withRemoteGroups(dialect, registry.groups(), ordering);
  const remotes = ordering.filter(isRemote);
  const named = groups.filter(({ name }) => name !== '');
  makers.set('/version', () => versionDocument(dialect, settings.build));
  makers.set('/api', () => apiVersions(registry.servedVersions(''), settings.serverAddress));
  makers.set('/apis', () => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(apiGroup) }));
  for (const group of named) {
    makers.set(`/apis/${group.name}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }));
  }
  for (const { name, versions } of groups) {
    for (const version of versions) {
      makers.set(rootPath(name, version), () => resourceList(registry, name, version, settings.tellsStorageVersions));
    }
  }
  for (const remote of remotes) makers.delete(pathOf(remote));
  const below = [...makers.keys(), ...remotes.map(pathOf), '/apis/', ...settings.extraPaths];
  makers.set('/', () => ({ paths: [...new Set(below)].sort() }));
  const documents = new Map<string, object>();
  return {
    document(given) {
      const path = given.length > 2 && given.endsWith('/') ? given.slice(0, -1) : given;
      let document = documents.get(path);
      if (document === undefined) {
        document = makers.get(path)?.();
        if (document !== undefined) documents.set(path, document);
      }
      return document;
    },
    paths: [...makers.keys()],
  };
}

/** The document at `/version`. */
export function versionDocument(dialect: Dialect, build: BuildInfo): object {
  return {
    major: '1',
    minor: String(API_MINOR_VERSION),
    gitVersion: dialect.gitVersion,
    gitCommit: build.gitCommit,
    gitTreeState: build.gitTreeState,
    buildDate: build.buildDate,
    goVersion: build.goVersion,
    compiler: 'v8',
    platform: build.platform,
  };
}

/** This document and the core group's resource list carry no apiVersion; clients know them without. */
function apiVersions(versions: readonly string[], serverAddress: string | undefined): object {
  const addresses = serverAddress === undefined ? [] : [{ clientCIDR: '0.0.0.0/0', serverAddress }];
  return { kind: 'APIVersions', versions, serverAddressByClientCIDRs: addresses };
}

function apiGroup({ name, versions, preferredVersion }: ServedGroup): object {
  const entry = (version: string) => ({ groupVersion: apiVersionOf(name, version), version });
  return { name, versions: versions.map(entry), preferredVersion: entry(preferredVersion) };
}

function resourceList(registry: Registry, group: string, version: string, tellsStorageVersions: boolean): object {
  const groupVersion = apiVersionOf(group, version);
  const resources = apiResources(
    registry.all().filter((type) => type.apiVersion === groupVersion),
    tellsStorageVersions,
  );
  return { kind: 'APIResourceList', ...(group === '' ? {} : { apiVersion: 'v1' }), groupVersion, resources };
}
