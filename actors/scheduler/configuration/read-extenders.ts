// The extenders of a configuration file or of a legacy policy, which write them alike but for the names of two members.

import { isExtendedResource } from '../../../api/validation/kinds/resource-amounts.ts';
import { ConfigurationError } from '../../../config/configuration-file.ts';
import type { Section } from '../../../config/configuration-section.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { bundleProblem, pairProblem } from '../../../transport/tls/certificates.ts';
import type { ExtenderConfiguration, ExtenderTls, PemSource } from './configuration.ts';

const TIMEOUT_DEFAULT_MS = 5_000;
const WEIGHT = { least: 0, most: 2 ** 31 - 1 };
const TLS_MEMBERS = ['insecure', 'serverName', 'certFile', 'keyFile', 'caFile', 'certData', 'keyData', 'caData'];

export const EXTENDER_MEMBERS = [
  'urlPrefix',
  'filterVerb',
  'preemptVerb',
  'prioritizeVerb',
  'weight',
  'bindVerb',
  'enableHTTPS',
  'enableHttps',
  'tlsConfig',
  'httpTimeout',
  'nodeCacheCapable',
  'managedResources',
  'ignorable',
];

/** Reads a file that the configuration names. Throws ConfigurationError of its own accord. */
export type FileReader = (path: string) => string;

export interface ExtenderSources {
  readonly readFile: FileReader;
  readonly dialect: Dialect;
}

/** Throws ConfigurationError. */
export function readExtenders(
  sections: readonly Section[],
  { readFile, dialect }: ExtenderSources,
): readonly ExtenderConfiguration[] {
  const extenders = sections.map((section) => readExtender(section, readFile));
  const binders = sections.filter((_, at) => extenders[at]!.bindVerb !== '');
  if (binders.length > 1)
    throw new ConfigurationError(binders[1]!.at('bindVerb'), 'one extender can bind, and another does');
  checkManaged(sections, extenders, dialect);
  return extenders;
}

/** Resources that others defined, each looked after once: nobody could say whose word about it counts. */
function checkManaged(
  sections: readonly Section[],
  extenders: readonly ExtenderConfiguration[],
  dialect: Dialect,
): void {
  const managed = new Set<string>();
  extenders.forEach(({ managedResources }, at) => {
    for (const { name } of managedResources) {
      if (!isExtendedResource(name, dialect)) sections[at]!.fail('managedResources', `${name} is no extended resource`);
      if (managed.has(name)) sections[at]!.fail('managedResources', `${name} is managed already`);
      managed.add(name);
    }
  });
}

function readExtender(section: Section, readFile: FileReader): ExtenderConfiguration {
  const urlPrefix = section.requiredText('urlPrefix');
  if (!URL.canParse(urlPrefix)) section.fail('urlPrefix', 'is not an address');
  if (!/^https?:$/.test(new URL(urlPrefix).protocol)) section.fail('urlPrefix', 'must be an http or https address');
  const prioritizeVerb = section.text('prioritizeVerb', '');
  const weight = section.number('weight', WEIGHT, 0);
  if (prioritizeVerb !== '' && weight === 0) section.fail('weight', 'must be positive where there is a prioritizeVerb');
  const enableHttps = section.flag('enableHTTPS', section.flag('enableHttps', false));
  return {
    urlPrefix: urlPrefix.replace(/\/+$/, ''),
    filterVerb: section.text('filterVerb', ''),
    preemptVerb: section.text('preemptVerb', ''),
    prioritizeVerb,
    bindVerb: section.text('bindVerb', ''),
    weight,
    httpTimeoutMs: timeoutOf(section),
    enableHttps,
    tls: section.has('tlsConfig') ? readTls(section.section('tlsConfig', TLS_MEMBERS), readFile) : undefined,
    nodeCacheCapable: section.flag('nodeCacheCapable', false),
    managedResources: section.sections('managedResources', ['name', 'ignoredByScheduler']).map((each) => ({
      name: each.requiredText('name'),
      ignoredByScheduler: each.flag('ignoredByScheduler', false),
    })),
    ignorable: section.flag('ignorable', false),
  };
}

/** Policies write nanoseconds, files durations; 0 says nothing in either. */
function timeoutOf(section: Section): number {
  const value = section.value('httpTimeout');
  if (typeof value !== 'number') return section.durationMs('httpTimeout', TIMEOUT_DEFAULT_MS) || TIMEOUT_DEFAULT_MS;
  const nanoseconds = section.number('httpTimeout', { least: 0, most: Number.MAX_SAFE_INTEGER }, 0);
  return nanoseconds === 0 ? TIMEOUT_DEFAULT_MS : Math.max(1, Math.round(nanoseconds / 1e6));
}

function readTls(section: Section, readFile: FileReader): ExtenderTls {
  const pem = (data: string, name: string): PemSource => {
    const encoded = section.text(data, '');
    if (encoded !== '') return { pem: Buffer.from(encoded, 'base64').toString('utf8'), file: '' };
    const file = section.text(name, '');
    return { pem: file === '' ? '' : readFile(file), file };
  };
  const insecure = section.flag('insecure', false);
  const ca = pem('caData', 'caFile');
  if (insecure && ca.pem !== '') section.fail('insecure', 'may not be set beside an authority');
  const [cert, key] = [pem('certData', 'certFile'), pem('keyData', 'keyFile')];
  const problem = ca.pem === '' ? undefined : bundleProblem(ca.pem);
  if (problem !== undefined) section.fail('caFile', problem);
  const isShown = cert.pem !== '' || key.pem !== '';
  const mismatch = isShown ? pairProblem({ certPem: cert.pem, keyPem: key.pem }) : undefined;
  if (mismatch !== undefined) section.fail('certFile', mismatch);
  return { insecure, serverName: section.text('serverName', ''), ca, cert, key };
}
