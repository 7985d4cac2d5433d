// The signers that every cluster has, and which requests each of them signs (SPEC.md "Removals" names the legacy one; the rules
// are Kubernetes 1.21's). Pure: a request and its usages in, what keeps it from being signed out, in the words that end up in
// the request's condition.
import type { CertificateRequest } from './certificate-request.ts';

/** Names of signers, for `Dialect.spell`. */
export const SIGNER = {
  client: '@label/@short-apiserver-client',
  nodeClient: '@label/@short-apiserver-client-@agent',
  nodeServing: '@label/@agent-serving',
  legacyUnknown: '@label/legacy-unknown',
} as const;

/** Why a signer does not sign a request; empty where it does. */
type Problem = (request: CertificateRequest, usages: readonly string[]) => string;

const NODE_GROUP = 'system:nodes';
const NODE_USER_PREFIX = 'system:node:';
const NODE_USAGES = ['digital signature', 'key encipherment'];

/** By the signer's name as in `SIGNER`. */
export const SIGNER_PROBLEMS: Readonly<Record<string, Problem>> = {
  [SIGNER.client]: (_request, usages) => clientUsagesProblem(usages),
  [SIGNER.nodeClient]: nodeClientProblem,
  [SIGNER.nodeServing]: nodeServingProblem,
  [SIGNER.legacyUnknown]: () => '',
};

/** A node agent's certificate for asking the API server. */
export function nodeClientProblem(request: CertificateRequest, usages: readonly string[]): string {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames > 0) return 'DNS subjectAltNames are not allowed';
  if (request.emails > 0) return 'Email subjectAltNames are not allowed';
  if (request.addresses > 0) return 'IP subjectAltNames are not allowed';
  if (request.uris > 0) return 'URI subjectAltNames are not allowed';
  return nodeNameProblem(request) || requiredUsagesProblem(usages, 'client auth');
}

/** A node agent's certificate for being asked. */
export function nodeServingProblem(request: CertificateRequest, usages: readonly string[]): string {
  if (!isOfNodes(request)) return 'subject organization is not system:nodes';
  if (request.dnsNames + request.addresses === 0) return 'DNS or IP subjectAltName is required';
  if (request.emails > 0) return 'Email subjectAltNames are not allowed';
  if (request.uris > 0) return 'URI subjectAltNames are not allowed';
  return requiredUsagesProblem(usages, 'server auth') || nodeNameProblem(request);
}

function isOfNodes({ organizations }: CertificateRequest): boolean {
  return organizations.length === 1 && organizations[0] === NODE_GROUP;
}

function nodeNameProblem({ commonName }: CertificateRequest): string {
  return commonName.startsWith(NODE_USER_PREFIX) ? '' : 'subject common name does not begin with system:node: ';
}

function requiredUsagesProblem(usages: readonly string[], purpose: string): string {
  const required = [...NODE_USAGES, purpose].sort();
  const given = new Set(usages);
  const isSame = given.size === required.length && required.every((usage) => given.has(usage));
  return isSame ? '' : `usages did not match [${required.join(' ')}]`;
}

function clientUsagesProblem(usages: readonly string[]): string {
  const other = usages.find((usage) => usage !== 'client auth' && !NODE_USAGES.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? '' : 'missing required usage for client certificate: client auth';
}
